/* Makes every call of the table, each in a process of its own, all at the same time.
 *
 * `calls FACTOR TICKS_PER_US LATE_MS [CASE]`: prints `NAME ok` or `NAME: what is wrong`, and ends with 1 where something is. Real time is
 * the time-stamp counter, which nothing dilates. A wait is tried five times, and the best counts: a busy machine wakes
 * a process late, but nothing wakes it early. LATE_MS is how late, in real time, is accepted of that. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static double factor, ticks_per_us;
/* What the kernel rounds a wait up to, in real ns: 0, or a tick of at most 10 ms. */
static double rounded_ns;
static double late_ns;
static const int64_t WAIT_NS = 20000000;
#define ALL_SIGNALS ((uint64_t)-1)

static int64_t ns_of(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }
static struct timespec timespec_of(int64_t ns) { return (struct timespec){ns / 1000000000, ns % 1000000000}; }
static int64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return ns_of(t);
}
static struct timespec ahead(clockid_t clock) { return timespec_of(now(clock) + WAIT_NS); }
static struct timespec span(void) { return timespec_of(WAIT_NS); }
static int fail(const char *text) { puts(text); return 1; }
#define CHECK(condition) do { if (!(condition)) { printf("not %s (errno %d) at line %d", #condition, errno, __LINE__); return 1; } } while (0)

/* Runs `wait` five times: none may be shorter than WAIT_NS, and the best at most 0.5 % and 100 us longer, on the program's
 * clock and on the real one. */
static int measured(int (*wait)(void)) {
    double best_perceived = 1e18, best_real = 1e18;
    for (int round = 0; round < 5; round++) {
        int64_t perceived = now(CLOCK_MONOTONIC);
        uint64_t ticks = __rdtsc();
        int wrong = wait();
        double real = (__rdtsc() - ticks) / ticks_per_us * 1000 / factor;
        perceived = now(CLOCK_MONOTONIC) - perceived;
        if (wrong) return wrong;
        if (perceived < best_perceived) best_perceived = perceived;
        if (real < best_real) best_real = real;
    }
    double most = WAIT_NS * 1.005 + 100000 + (rounded_ns + late_ns) / factor, least = WAIT_NS * 0.995 - 100000;
    if (best_perceived < least || best_perceived > most || best_real < least || best_real > most) {
        printf("requested %.3f ms, perceived %.3f, real / factor %.3f", WAIT_NS / 1e6, best_perceived / 1e6, best_real / 1e6);
        return 1;
    }
    return 0;
}
#define WAIT(name) static int name##_once(void); static int name(void) { return measured(name##_once); } static int name##_once(void)

WAIT(nanosleep_) { struct timespec t = span(); CHECK(syscall(SYS_nanosleep, &t, NULL) == 0); return 0; }
WAIT(clock_nanosleep_) { struct timespec t = span(); CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL) == 0); return 0; }
WAIT(clock_nanosleep_absolute) { struct timespec t = ahead(CLOCK_MONOTONIC); CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0); return 0; }
WAIT(clock_nanosleep_realtime) { struct timespec t = ahead(CLOCK_REALTIME); CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == 0); return 0; }
WAIT(clock_nanosleep_boottime) { struct timespec t = ahead(CLOCK_BOOTTIME); CHECK(clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, NULL) == 0); return 0; }
WAIT(clock_nanosleep_tai) { struct timespec t = ahead(CLOCK_TAI); CHECK(clock_nanosleep(CLOCK_TAI, TIMER_ABSTIME, &t, NULL) == 0); return 0; }
WAIT(poll_) { CHECK(syscall(SYS_poll, NULL, 0, 20) == 0); return 0; }
WAIT(ppoll_) { struct timespec t = span(); uint64_t mask = ALL_SIGNALS; CHECK(syscall(SYS_ppoll, NULL, 0, &t, &mask, 8) == 0 && ns_of(t) == 0); return 0; }
WAIT(select_) { struct timeval t = {0, 20000}; CHECK(syscall(SYS_select, 0, NULL, NULL, NULL, &t) == 0 && t.tv_usec == 0); return 0; }
WAIT(pselect6_) { struct timespec t = span(); uint64_t mask = ALL_SIGNALS; struct { void *mask; size_t size; } both = {&mask, 8};
    CHECK(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &t, &both) == 0); return 0; }
WAIT(epoll_wait_) { struct epoll_event e; int f = epoll_create1(0); CHECK(syscall(SYS_epoll_wait, f, &e, 1, 20) == 0); close(f); return 0; }
WAIT(epoll_pwait_) { struct epoll_event e; int f = epoll_create1(0); uint64_t mask = ALL_SIGNALS; CHECK(syscall(SYS_epoll_pwait, f, &e, 1, 20, &mask, 8) == 0); close(f); return 0; }
WAIT(epoll_pwait2_) { struct epoll_event e; int f = epoll_create1(0); struct timespec t = span(); CHECK(syscall(441, f, &e, 1, &t, NULL, 8) == 0); close(f); return 0; }
WAIT(rt_sigtimedwait_) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); sigprocmask(SIG_BLOCK, &s, NULL); struct timespec t = span(); CHECK(sigtimedwait(&s, NULL, &t) == -1 && errno == EAGAIN); return 0; }
WAIT(semtimedop_) { int id = semget(IPC_PRIVATE, 1, 0600); struct sembuf b = {0, -1, 0}; struct timespec t = span(); CHECK(semtimedop(id, &b, 1, &t) == -1 && errno == EAGAIN); semctl(id, 0, IPC_RMID); return 0; }
static aio_context_t io;
WAIT(io_getevents_once) { struct io_event e; struct timespec t = span(); CHECK(syscall(SYS_io_getevents, io, 1, 1, &e, &t) == 0); return 0; }
WAIT(io_pgetevents_once) { struct io_event e; struct timespec t = span(); CHECK(syscall(333, io, 1, 1, &e, &t, NULL) == 0); return 0; }
static int io_getevents_(void) { CHECK(syscall(SYS_io_setup, 4, &io) == 0); return io_getevents_once(); }
static int io_pgetevents_(void) { CHECK(syscall(SYS_io_setup, 4, &io) == 0); return io_pgetevents_once(); }
static uint32_t word;
static long futex(int op, struct timespec *t) { return syscall(SYS_futex, &word, op, 0, t, NULL, ALL_SIGNALS); }
WAIT(futex_wait_relative) { struct timespec t = span(); CHECK(futex(FUTEX_WAIT_PRIVATE, &t) == -1 && errno == ETIMEDOUT); return 0; }
WAIT(futex_bitset) { struct timespec t = ahead(CLOCK_MONOTONIC); CHECK(futex(FUTEX_WAIT_BITSET_PRIVATE, &t) == -1 && errno == ETIMEDOUT); return 0; }
WAIT(futex_bitset_realtime) { struct timespec t = ahead(CLOCK_REALTIME); CHECK(futex(FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, &t) == -1 && errno == ETIMEDOUT); return 0; }
static pthread_mutex_t inherited;
static uint32_t held;
static void *hold(void *ready) { pthread_mutex_lock(&inherited); syscall(SYS_futex, &held, FUTEX_LOCK_PI_PRIVATE, 0, NULL); *(volatile int *)ready = 1; pause(); return NULL; }
static int hold_mutex(void) {
    static volatile int ready;
    static pthread_t holder;
    if (ready) return 0;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inherited, &kind);
    pthread_create(&holder, NULL, hold, (void *)&ready);
    while (!ready) sched_yield();
    return 0;
}
WAIT(futex_lock_pi) { struct timespec t = ahead(CLOCK_REALTIME); CHECK(pthread_mutex_timedlock(&inherited, &t) == ETIMEDOUT); return 0; }
WAIT(futex_lock_pi2) { struct timespec t = ahead(CLOCK_MONOTONIC); CHECK(syscall(SYS_futex, &held, 13 | FUTEX_PRIVATE_FLAG, 0, &t) == -1 && errno == ETIMEDOUT); return 0; }
static int lock_pi(void) { return hold_mutex() || futex_lock_pi(); }
static int lock_pi2(void) { return hold_mutex() || futex_lock_pi2(); }
WAIT(futex_waitv_) { struct { uint64_t value, address; uint32_t flags, zero; } v = {0, (uint64_t)&word, 2, 0}; struct timespec t = ahead(CLOCK_MONOTONIC); CHECK(syscall(449, &v, 1, 0, &t, CLOCK_MONOTONIC) == -1 && errno == ETIMEDOUT); return 0; }
WAIT(futex_wait_) { struct timespec t = ahead(CLOCK_REALTIME); CHECK(syscall(455, &word, 0, 0xffffffffUL, 2, &t, CLOCK_REALTIME) == -1 && errno == ETIMEDOUT); return 0; }
static mqd_t queue(int fill) {
    char name[40];
    sprintf(name, "/crosswind-test-%d", getpid());
    struct mq_attr a = {.mq_maxmsg = 1, .mq_msgsize = 8};
    mqd_t q = mq_open(name, O_CREAT | O_RDWR, 0600, &a);
    mq_unlink(name);
    if (fill) mq_send(q, "x", 1, 0);
    return q;
}
WAIT(mq_timedsend_) { mqd_t q = queue(1); CHECK(q >= 0); struct timespec t = ahead(CLOCK_REALTIME); CHECK(mq_timedsend(q, "x", 1, 0, &t) == -1 && errno == ETIMEDOUT); mq_close(q); return 0; }
WAIT(mq_timedreceive_) { char b[8]; mqd_t q = queue(0); CHECK(q >= 0); struct timespec t = ahead(CLOCK_REALTIME); CHECK(mq_timedreceive(q, b, 8, NULL, &t) == -1 && errno == ETIMEDOUT); mq_close(q); return 0; }
static int expired(clockid_t clock, int flags, struct timespec value) {
    struct itimerspec t = {.it_value = value}, left;
    uint64_t count;
    int f = timerfd_create(clock, 0);
    CHECK(timerfd_settime(f, flags, &t, NULL) == 0 && timerfd_gettime(f, &left) == 0);
    CHECK(ns_of(left.it_value) <= WAIT_NS && ns_of(left.it_value) > WAIT_NS / 2);
    CHECK(read(f, &count, 8) == 8 && count == 1);
    close(f);
    return 0;
}
WAIT(timerfd_relative) { return expired(CLOCK_MONOTONIC, 0, span()); }
WAIT(timerfd_absolute) { return expired(CLOCK_MONOTONIC, TFD_TIMER_ABSTIME, ahead(CLOCK_MONOTONIC)); }
WAIT(timerfd_realtime) { return expired(CLOCK_REALTIME, TFD_TIMER_ABSTIME, ahead(CLOCK_REALTIME)); }
WAIT(timerfd_interval) { struct itimerspec t = {timespec_of(WAIT_NS / 2), timespec_of(WAIT_NS / 2)}; uint64_t one, two = 0; int f = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(timerfd_settime(f, 0, &t, NULL) == 0 && read(f, &one, 8) == 8); if (one < 2) CHECK(read(f, &two, 8) == 8); close(f); return 0; }
static void nothing(int signal) { (void)signal; }
static int rung(clockid_t clock, int flags, struct timespec value) {
    sigset_t s;
    siginfo_t info;
    sigemptyset(&s);
    sigaddset(&s, SIGUSR2);
    sigprocmask(SIG_BLOCK, &s, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec t = {.it_value = value}, left;
    timer_t timer;
    CHECK(timer_create(clock, &event, &timer) == 0 && timer_settime(timer, flags, &t, NULL) == 0 && timer_gettime(timer, &left) == 0);
    CHECK(ns_of(left.it_value) <= WAIT_NS && ns_of(left.it_value) > WAIT_NS / 2);
    CHECK(sigwaitinfo(&s, &info) == SIGUSR2 && timer_delete(timer) == 0);
    return 0;
}
WAIT(timer_relative) { return rung(CLOCK_MONOTONIC, 0, span()); }
WAIT(timer_absolute) { return rung(CLOCK_MONOTONIC, TIMER_ABSTIME, ahead(CLOCK_MONOTONIC)); }
WAIT(timer_realtime) { return rung(CLOCK_REALTIME, TIMER_ABSTIME, ahead(CLOCK_REALTIME)); }
WAIT(setitimer_) { struct itimerval t = {.it_value = {0, 20000}}, left; signal(SIGALRM, nothing); sigset_t s; sigemptyset(&s); sigaddset(&s, SIGALRM); sigprocmask(SIG_BLOCK, &s, NULL);
    CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0 && getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_usec <= 20000 && left.it_value.tv_usec > 10000);
    sigset_t none; sigemptyset(&none); CHECK(sigsuspend(&none) == -1 && errno == EINTR); return 0; }
static int pair[2];
static int sockets(void) { rounded_ns = 2e7; if (!pair[1]) CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0); return 0; }
WAIT(so_rcvtimeo_once) { struct timeval t = {0, 20000}, back; socklen_t n = sizeof back; char b; CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == 0 && getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &back, &n) == 0 && labs(back.tv_usec - 20000) < 1000);
    CHECK(recv(pair[0], &b, 1, 0) == -1 && errno == EAGAIN); return 0; }
WAIT(so_sndtimeo_once) { struct timeval t = {0, 20000}; static char b[65536]; CHECK(setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t) == 0);
    while (send(pair[0], b, sizeof b, MSG_DONTWAIT) > 0) {} CHECK(send(pair[0], b, sizeof b, 0) == -1 && errno == EAGAIN); return 0; }
static int so_rcvtimeo(void) { return sockets() || so_rcvtimeo_once(); }
static int so_sndtimeo(void) { return sockets() || so_sndtimeo_once(); }

/* Signals in every state. */
WAIT(all_signals_blocked) { sigset_t s; sigfillset(&s); uint64_t mask = ALL_SIGNALS; CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8) == 0); sigprocmask(SIG_BLOCK, &s, NULL);
    struct timespec t = span(); CHECK(nanosleep(&t, NULL) == 0); return 0; }
WAIT(sigsys_ignored) { signal(SIGSYS, SIG_IGN); struct timespec t = span(); CHECK(nanosleep(&t, NULL) == 0); return 0; }
WAIT(sigsys_default) { struct sigaction old; CHECK(sigaction(SIGSYS, &(struct sigaction){.sa_handler = SIG_DFL}, &old) == 0); struct timespec t = span(); CHECK(nanosleep(&t, NULL) == 0); return 0; }
static volatile int handled;
static void sleeper(int signal) { struct timespec t = span(); handled = nanosleep(&t, NULL) == 0 && signal == SIGUSR1; }
WAIT(in_a_handler_with_all_blocked) { struct sigaction a = {.sa_handler = sleeper}; memset(&a.sa_mask, 255, sizeof a.sa_mask); CHECK(sigaction(SIGUSR1, &a, NULL) == 0 && raise(SIGUSR1) == 0 && handled); return 0; }
static void count(int signal) { (void)signal; handled++; }
static int own_sigsys(void) { signal(SIGSYS, count); handled = 0; raise(SIGSYS); struct timespec t = span(); CHECK(handled == 1 && nanosleep(&t, NULL) == 0 && handled == 1); return 0; }
static int killed_by_sigsys(void) { pid_t child = fork(); if (!child) { raise(SIGSYS); _exit(0); } int status; waitpid(child, &status, 0); CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS); return 0; }
static int interrupted(void) {
    struct itimerval t = {.it_value = {0, 20000}};
    struct timespec left, four = timespec_of(4 * WAIT_NS);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = nothing}, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
    /* The sleep begins after the timer, and so may have more than 60 ms left. */
    double late = 1e6 + late_ns / factor;
    CHECK(nanosleep(&four, &left) == -1 && errno == EINTR && ns_of(left) <= 3 * WAIT_NS + late && ns_of(left) > 5 * WAIT_NS / 2 - late);
    struct timeval rest = {0, 80000};
    setitimer(ITIMER_REAL, &t, NULL);
    CHECK(syscall(SYS_select, 0, NULL, NULL, NULL, &rest) == -1 && errno == EINTR && rest.tv_usec <= 60000 + late / 1000 && rest.tv_usec > 50000 - late / 1000);
    return 0;
}
static void *sleep_long(void *none) { sleep(1000); return none; }
static int cancelled(void) { pthread_t t; void *result; pthread_create(&t, NULL, sleep_long, NULL); usleep(2000); CHECK(pthread_cancel(t) == 0 && pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED); return 0; }
static int refused_times(void) {
    struct timespec bad = {0, 1000000000}, negative = {-1, 0}, past = {0, 1};
    CHECK(syscall(SYS_nanosleep, &bad, NULL) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_ppoll, NULL, 0, &negative, NULL, 8) == -1 && errno == EINVAL);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &bad, NULL) == EINVAL && clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL) == 0);
    CHECK(syscall(SYS_clock_gettime, 77, &bad) == -1 && errno == EINVAL);
    return 0;
}
static int zero_polls(void) { struct timespec none = {0, 0}; struct timeval no = {0, 0}; uint64_t t = __rdtsc();
    CHECK(poll(NULL, 0, 0) == 0 && ppoll(NULL, 0, &none, NULL) == 0 && select(0, NULL, NULL, NULL, &no) == 0 && nanosleep(&none, NULL) == 0); CHECK((__rdtsc() - t) / ticks_per_us < 100000); return 0; }

/* Clocks. */
static int clock_runs(int64_t (*read)(void), double step_ns) {
    for (int round = 0; round < 3; round++) {
        uint64_t ticks = __rdtsc();
        int64_t first = read();
        usleep(20000);
        double real = (__rdtsc() - ticks) / ticks_per_us * 1000 / factor, passed = read() - first;
        if (passed > real * 0.995 - 100000 - step_ns && passed < real * 1.005 + 100000 + step_ns) return 0;
        if (round == 2) printf("passed %.3f ms, real / factor %.3f ms", passed / 1e6, real / 1e6);
    }
    return 1;
}
static clockid_t which;
static int64_t by_library(void) { return now(which); }
static int64_t by_call(void) { struct timespec t; syscall(SYS_clock_gettime, which, &t); return ns_of(t); }
static int clocks(void) {
    clockid_t all[] = {0, 1, 4, 5, 6, 7, 11};
    for (int i = 0; i < 7; i++) {
        which = all[i];
        double step = which == 5 || which == 6 ? 1e7 : 0;
        if (clock_runs(by_library, step) || clock_runs(by_call, step)) { printf(" (clock %d)", which); return 1; }
        int64_t one = by_library(), two = by_call(), three = by_library();
        CHECK(one <= two && two <= three);
    }
    return 0;
}
static int64_t of_day(void) { struct timeval t; gettimeofday(&t, NULL); return t.tv_sec * 1000000000LL + t.tv_usec * 1000; }
static int64_t of_day_by_call(void) { struct timeval t; syscall(SYS_gettimeofday, &t, NULL); return t.tv_sec * 1000000000LL + t.tv_usec * 1000; }
static int time_of_day(void) { return clock_runs(of_day, 1000) || clock_runs(of_day_by_call, 1000); }
static int seconds(void) { time_t out; int64_t t = now(CLOCK_REALTIME) / 1000000000; CHECK(llabs(time(&out) - t) <= 1 && out - t <= 1 && llabs(syscall(SYS_time, NULL) - t) <= 1); return 0; }
static int64_t ticks(void) { struct tms t; return times(&t) * 10000000LL; }
static int ticks_(void) { return clock_runs(ticks, 2e7); }
static int uptime(void) { struct sysinfo s; CHECK(sysinfo(&s) == 0 && llabs(s.uptime - now(CLOCK_BOOTTIME) / 1000000000) <= 1); return 0; }
static int usage(void) {
    struct rusage own, child;
    struct timespec cpu;
    int status;
    pid_t burner = fork();
    uint64_t begin = __rdtsc();
    /* The longest that a process may run: until its own CPU time says so. */
    while (now(CLOCK_PROCESS_CPUTIME_ID) < WAIT_NS && (__rdtsc() - begin) / ticks_per_us < 8e6) {}
    if (!burner) _exit(0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    CHECK(getrusage(RUSAGE_SELF, &own) == 0 && wait4(burner, &status, 0, &child) == burner);
    int64_t used = (own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000LL + own.ru_utime.tv_usec + own.ru_stime.tv_usec;
    CHECK(llabs(used * 1000 - ns_of(cpu)) < 3000000);
    used = (child.ru_utime.tv_sec + child.ru_stime.tv_sec) * 1000000LL + child.ru_utime.tv_usec + child.ru_stime.tv_usec;
    CHECK(used * 1000 > WAIT_NS * 0.9 && used * 1000 < WAIT_NS * 1.5);
    /* Without an ended child nothing is written, and nothing may be changed. */
    struct rusage before = {.ru_utime = {7, 7}};
    pid_t idle = fork();
    if (!idle) { pause(); _exit(0); }
    CHECK(wait4(idle, &status, WNOHANG, &before) == 0 && before.ru_utime.tv_sec == 7);
    kill(idle, SIGKILL);
    waitpid(idle, &status, 0);
    return 0;
}

/* Sockets. */
/* Options are whole units, so that a fast clock, which shortens them, may have rounded one up. */
static int read_back(int back, int value) { return back == value || (factor != (int)factor && back == value + 1); }
static int options(void) {
    int f = socket(AF_INET, SOCK_STREAM, 0), value, back;
    socklen_t n = sizeof back;
    struct { int option, value; } all[] = {{TCP_KEEPIDLE, 20}, {TCP_KEEPINTVL, 7}, {TCP_LINGER2, 5}, {TCP_USER_TIMEOUT, 3000}};
    for (int i = 0; i < 4; i++) {
        value = all[i].value;
        CHECK(setsockopt(f, IPPROTO_TCP, all[i].option, &value, sizeof value) == 0);
        CHECK(getsockopt(f, IPPROTO_TCP, all[i].option, &back, &n) == 0 && read_back(back, value));
    }
    value = 32767;
    CHECK(setsockopt(f, IPPROTO_TCP, TCP_KEEPIDLE, &value, sizeof value) == 0);
    value = 40000;
    CHECK(setsockopt(f, IPPROTO_TCP, TCP_KEEPIDLE, &value, sizeof value) == -1 && errno == EINVAL);
    struct linger linger = {1, 9}, linger_back;
    n = sizeof linger;
    CHECK(setsockopt(f, SOL_SOCKET, SO_LINGER, &linger, n) == 0 && getsockopt(f, SOL_SOCKET, SO_LINGER, &linger_back, &n) == 0 && read_back(linger_back.l_linger, 9));
    uint64_t rate = 125000000, rate_back = 0;
    n = 8;
    CHECK(setsockopt(f, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, 8) == 0 && getsockopt(f, SOL_SOCKET, SO_MAX_PACING_RATE, &rate_back, &n) == 0);
    CHECK(rate_back <= rate && rate_back + factor >= rate);
    struct tcp_info info;
    n = sizeof info;
    CHECK(getsockopt(f, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 && info.tcpi_rto <= 1000000 / factor + 1);
    int on = 1;
    CHECK(setsockopt(f, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on) == -1 && errno == ENOPROTOOPT);
    CHECK(setsockopt(f, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    return 0;
}

/* Programs. */
static int programs(void) {
    char *none[] = {NULL};
    CHECK(execve("/nowhere/program", none, none) == -1 && errno == ENOENT);
    CHECK(execve("/etc/passwd", none, none) == -1 && errno == EACCES);
    FILE *script = fopen("script", "w");
    fputs("#!/bin/sh\nexit 7\n", script);
    fclose(script);
    chmod("script", 0755);
    int status;
    pid_t child = vfork();
    if (!child) { execl("./script", "script", NULL); _exit(1); }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(WEXITSTATUS(system("exec true")) == 0 && WEXITSTATUS(system("sleep 0.001; exit 3")) == 3);
    return 0;
}
/* A thread in vfork does not stop for a tracer until its child has begun a program. */
static int fails_and_spawns(void) {
    char *none[] = {NULL};
    for (int i = 0; i < 200; i++) {
        CHECK(execve("/nowhere/program", none, none) == -1);
        int status;
        pid_t child = vfork();
        if (!child) { execl("/bin/true", "true", NULL); _exit(1); }
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return 0;
}
static void *begin(void *none) { (void)none; execl("/bin/sh", "sh", "-c", "sleep 0.01; exit 5", NULL); return NULL; }
static int thread_begins_program(void) {
    pid_t child = fork();
    if (!child) { pthread_t one, two; pthread_create(&one, NULL, begin, NULL); pthread_create(&two, NULL, begin, NULL); pause(); _exit(1); }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return 0;
}
static int refused_calls(void) {
    char zeros[256] = {0};
    CHECK(syscall(425, 8, zeros) == -1 && errno == ENOSYS);
    /* clone3 with CLONE_CLEAR_SIGHAND, as newer C libraries spawn, would lose the handler. */
    uint64_t clear[11] = {0x100000000, 0, 0, 0, SIGCHLD};
    pid_t child = syscall(435, clear, sizeof clear);
    if (!child) _exit(0);
    CHECK(child == -1 && errno == ENOSYS);
    CHECK(syscall(159, zeros) == -1 && errno == ENOSYS);
    CHECK(syscall(0x40000000 | 230, 0, 0, zeros, 0) == -1 && errno == ENOSYS);
    return 0;
}
#ifndef __GLIBC__
/* musl has this function of the vDSO under another name only. */
#define getcpu(cpu, node) (*(cpu) = sched_getcpu(), 0)
#endif
static int cpu_number(void) { unsigned cpu = 9999, node; CHECK(getcpu(&cpu, &node) == 0 && cpu < 4096); struct timespec r; CHECK(clock_getres(CLOCK_MONOTONIC, &r) == 0 && r.tv_nsec > 0); return 0; }
static int alarm_(void) { struct timespec t = {2, 0}, left; signal(SIGALRM, nothing); CHECK(alarm(1) == 0 && alarm(1) == 1); CHECK(nanosleep(&t, &left) == -1 && errno == EINTR && ns_of(left) <= 1000000000 && ns_of(left) > 900000000); return 0; }

#define CASE(name) {#name, name}
static const struct { const char *name; int (*run)(void); } CASES[] = {
    CASE(nanosleep_), CASE(clock_nanosleep_), CASE(clock_nanosleep_absolute), CASE(clock_nanosleep_realtime), CASE(clock_nanosleep_boottime), CASE(clock_nanosleep_tai),
    CASE(poll_), CASE(ppoll_), CASE(select_), CASE(pselect6_), CASE(epoll_wait_), CASE(epoll_pwait_), CASE(epoll_pwait2_), CASE(rt_sigtimedwait_), CASE(semtimedop_),
    CASE(io_getevents_), CASE(io_pgetevents_), CASE(futex_wait_relative), CASE(futex_bitset), CASE(futex_bitset_realtime), CASE(lock_pi), CASE(lock_pi2), CASE(futex_waitv_), CASE(futex_wait_),
    CASE(mq_timedsend_), CASE(mq_timedreceive_), CASE(timerfd_relative), CASE(timerfd_absolute), CASE(timerfd_realtime), CASE(timerfd_interval), CASE(timer_relative), CASE(timer_absolute),
    CASE(timer_realtime), CASE(setitimer_), CASE(so_rcvtimeo), CASE(so_sndtimeo), CASE(all_signals_blocked), CASE(sigsys_ignored), CASE(sigsys_default), CASE(in_a_handler_with_all_blocked),
    CASE(own_sigsys), CASE(killed_by_sigsys), CASE(interrupted), CASE(cancelled), CASE(refused_times), CASE(zero_polls), CASE(clocks), CASE(time_of_day), CASE(seconds), CASE(ticks_), CASE(uptime), CASE(usage),
    CASE(options), CASE(programs), CASE(fails_and_spawns), CASE(thread_begins_program), CASE(refused_calls), CASE(cpu_number), CASE(alarm_),
};
enum { COUNT = sizeof CASES / sizeof *CASES };

int main(int argc, char **argv) {
    if (argc < 4) return fail("usage: calls FACTOR TICKS_PER_US LATE_MS [CASE]");
    factor = atof(argv[1]);
    ticks_per_us = atof(argv[2]);
    late_ns = atof(argv[3]) * 1e6;
    pid_t children[COUNT];
    int wrong = 0;
    setvbuf(stdout, NULL, _IOFBF, 4096);
    for (int i = 0; i < COUNT; i++) {
        children[i] = 0;
        if (argc > 4 ? strcmp(argv[4], CASES[i].name) != 0 : strcmp("alarm_", CASES[i].name) == 0) continue;
        children[i] = fork();
        if (children[i]) continue;
        printf("%s: ", CASES[i].name);
        int bad = CASES[i].run();
        puts(bad ? "" : "ok");
        fflush(stdout);
        _exit(bad);
    }
    for (int i = 0; i < COUNT; i++) {
        int status;
        if (!children[i]) continue;
        waitpid(children[i], &status, 0);
        if (!WIFEXITED(status)) printf("%s: ended by signal %d\n", CASES[i].name, WTERMSIG(status));
        if (status) wrong = 1;
    }
    return wrong;
}
