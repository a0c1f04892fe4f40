/* `counter TICKS`: waits for this many ticks of the time-stamp counter in a loop that reads it, and prints for how long by
 * its own clock. `counter few` reads it as seldom as what seeds random numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    unsigned processor;
    double began = now();
    unsigned long long first = __rdtsc(), last = first;
    if (!strcmp(argv[1], "few")) {
        for (int i = 0; i < 50; i++) last = __rdtsc();
    } else {
        unsigned long long ticks = strtoull(argv[1], NULL, 10);
        while (last - first < ticks) {
            unsigned long long next = __rdtscp(&processor);
            if (next < last) return 2; /* It never goes back, whoever answers. */
            last = next;
        }
    }
    printf("%.6f\n", now() - began);
    return last <= first;
}
