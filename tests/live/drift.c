/* Makes the monotonic clocks of a process run faster, by RATE_PPB, from the instant ORIGIN_NS on. The file STEP has eight
 * bytes: nanoseconds by which the machine's clock has been set since then.
 *
 * Loaded into every program of a machine of the rig (machines.py) by /etc/ld.so.preload. The wall clock and the
 * kernel's own timers run on as they are: stamps of packets are on the wall clock, and a timer of a second is wrong by
 * RATE_PPB. What waits for an absolute instant waits for that of the kernel's clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000LL

static const volatile int64_t *step;

__attribute__((constructor)) static void find_step(void) {
    int file = open(STEP, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *found = mmap(0, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) step = found;
    close(file);
}

static int64_t step_ns(void) {
    return step ? *step : 0;
}

static int drifts(clockid_t clock) {
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_BOOTTIME;
}

static struct timespec from_ns(int64_t ns) {
    struct timespec time = {ns / NS, ns % NS};
    return time;
}

static int64_t to_ns(const struct timespec *time) {
    return time->tv_sec * NS + time->tv_nsec;
}

static struct timespec of_kernel(const struct timespec *drifted) {
    int64_t since = to_ns(drifted) - step_ns() - ORIGIN_NS;
    return from_ns(ORIGIN_NS + since - (int64_t)((__int128)since * RATE_PPB / (NS + RATE_PPB)));
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, time);
    if (!failed && drifts(clock)) {
        int64_t since = to_ns(time) - ORIGIN_NS;
        *time = from_ns(step_ns() + ORIGIN_NS + since + (int64_t)((__int128)since * RATE_PPB / NS));
    }
    return failed;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest) {
    static int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_nanosleep");
    if (!(flags & TIMER_ABSTIME) || !drifts(clock)) return real(clock, flags, time, rest);
    struct timespec there = of_kernel(time);
    return real(clock, flags, &there, rest);
}

long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (!real) real = dlsym(RTLD_NEXT, "syscall");
    long word[6];
    va_list words;
    va_start(words, number);
    for (int at = 0; at < 6; at++) word[at] = va_arg(words, long);
    va_end(words);
    struct timespec there;
    int operation = (int)word[1];
    if (number == SYS_futex && (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET &&
        !(operation & FUTEX_CLOCK_REALTIME) && word[3]) {
        there = of_kernel((const struct timespec *)word[3]);
        word[3] = (long)&there;
    }
    return real(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
