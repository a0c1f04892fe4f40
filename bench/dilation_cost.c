/* Prints how long single calls last, in ns of its own clock: the least mean of several groups.
 *
 * In the order of what is printed: clock_gettime, a system call that nothing slows down, a poll without a wait, a
 * wait of 1 ns, a program that is started and ends.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void read_clock(void)
{
    (void)now_ns();
}

static void other_call(void)
{
    syscall(SYS_getppid);
}

static void poll_at_once(void)
{
    poll(NULL, 0, 0);
}

static void wait_once(void)
{
    struct timespec time = {0, 1};

    nanosleep(&time, NULL);
}

static void start_program(void)
{
    char *words[] = {"/bin/true", NULL};
    pid_t child = vfork();

    if (child == 0) {
        execve(words[0], words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

static double least_ns(void (*call)(void), int groups, int calls)
{
    double least = 1e18;

    for (int group = 0; group < groups; group++) {
        double began = now_ns(), mean;

        for (int number = 0; number < calls; number++)
            call();
        mean = (now_ns() - began) / calls;
        if (mean < least)
            least = mean;
    }
    return least;
}

int main(void)
{
    /* The default slack of 50 us would hide what a wait costs. */
    prctl(PR_SET_TIMERSLACK, 1);
    printf("%f\n", least_ns(read_clock, 50, 20000));
    printf("%f\n", least_ns(other_call, 50, 20000));
    printf("%f\n", least_ns(poll_at_once, 50, 20000));
    printf("%f\n", least_ns(wait_once, 50, 200));
    printf("%f\n", least_ns(start_program, 100, 1));
    return 0;
}
