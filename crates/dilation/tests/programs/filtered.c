/* `filtered SECONDS`: sleeps under seccomp filters of its own, and prints for how long by its own clock.
 *
 * One filter is a list of what is allowed, as sandboxes have it; one traps a call into the program's handler. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define IF(number, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)
static volatile sig_atomic_t trapped;
static void count(int signal, siginfo_t *info, void *context) { trapped += info->si_syscall == SYS_getppid; }

static int install(struct sock_filter *filter, unsigned short length) {
    struct sock_fprog program = {length, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 3;
    struct sock_filter traps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        IF(SYS_getppid, SECCOMP_RET_TRAP), IF(SYS_getuid, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter allows[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        IF(SYS_clock_nanosleep, SECCOMP_RET_ALLOW), IF(SYS_clock_gettime, SECCOMP_RET_ALLOW),
        IF(SYS_write, SECCOMP_RET_ALLOW), IF(SYS_getppid, SECCOMP_RET_ALLOW), IF(SYS_getuid, SECCOMP_RET_ALLOW),
        IF(SYS_exit_group, SECCOMP_RET_ALLOW),
        /* What every program with a signal handler allows. */
        IF(SYS_rt_sigreturn, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    if (install(traps, sizeof traps / sizeof *traps) || install(allows, sizeof allows / sizeof *allows)) return 4;
    syscall(SYS_getppid);
    if (trapped != 1) return 5;
    if (syscall(SYS_getuid) != -1 || errno != EPERM) return 6;
    struct timespec began, ended, wait = {0, atof(argv[1]) * 1e9};
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL)) return 7;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    char text[32];
    int length = snprintf(text, sizeof text, "%.6f\n", ended.tv_sec - began.tv_sec + (ended.tv_nsec - began.tv_nsec) / 1e9);
    return write(1, text, length) != length;
}
