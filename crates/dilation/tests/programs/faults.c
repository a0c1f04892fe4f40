/* What programs do with SIGSEGV, while the time-stamp counter is watched: prints each claim that does not hold. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

static int wrong;
static void claim(int holds, const char *what) {
    if (!holds) {
        wrong = 1;
        puts(what);
    }
}

static volatile sig_atomic_t seen;
static sigjmp_buf back;
static char *page;

/* Makes the page writable, as a garbage collector does, and lets the instruction go on. */
static void repair(int signal, siginfo_t *info, void *context) {
    seen += signal == SIGSEGV && info->si_addr == page && info->si_code == SEGV_ACCERR;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    seen += __rdtsc() == 0;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
static void leave(int signal) { siglongjmp(back, signal); }
static void skip(int signal, siginfo_t *info, void *context) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* `movb (%rax), %al` has two bytes. */
    seen++;
}
static void read_null(void) { __asm__ volatile("xorl %%eax, %%eax\n movb (%%rax), %%al" ::: "rax"); }
static void *faults_in_a_thread(void *nothing) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    unsigned processor;
    for (int i = 0; i < 20; i++) claim(__rdtscp(&processor) > 0, "a thread that blocks all signals reads the counter");
    return nothing;
}

/* How a child ends that does this. */
static int ends(void (*doing)(void)) {
    int status;
    pid_t child = fork();
    if (!child) {
        doing();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}
static void by_default(void) { signal(SIGSEGV, SIG_DFL); __rdtsc(); read_null(); }
static void ignored(void) { signal(SIGSEGV, SIG_IGN); kill(getpid(), SIGSEGV); __rdtsc(); }
static void ignored_fault(void) { signal(SIGSEGV, SIG_IGN); read_null(); }
static void sent(void) { signal(SIGSEGV, SIG_DFL); kill(getpid(), SIGSEGV); }
static void privileged(void) { signal(SIGSEGV, SIG_DFL); __asm__ volatile("hlt"); }
static void again(int signal) { seen++; read_null(); }
static void in_its_handler(void) { signal(SIGSEGV, again); read_null(); }

int main(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = repair}, before;
    claim(!sigaction(SIGSEGV, NULL, &before) && before.sa_handler == SIG_DFL, "the default is shown");
    claim(__rdtsc() < __rdtsc(), "the counter goes on");

    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    claim(!sigaction(SIGSEGV, &action, &before) && before.sa_handler == SIG_DFL, "an action is set");
    claim(!sigaction(SIGSEGV, NULL, &before) && before.sa_sigaction == repair, "an action is shown");
    *(volatile char *)page = 1;
    claim(seen == 1 && *page == 1, "a handler repairs what faulted");
    claim(__rdtsc() < __rdtsc(), "the counter goes on after a fault");

    int status;
    pid_t child = vfork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    mprotect(page, 4096, PROT_READ);
    *(volatile char *)page = 2;
    claim(seen == 2 && *page == 2, "what a child of vfork sets is not its parent's");

    signal(SIGSEGV, leave);
    for (int i = 0; i < 3; i++) {
        if (!sigsetjmp(back, 1)) read_null();
        claim(__rdtsc() > 0, "the counter goes on after a jump out of the handler");
    }
    action.sa_sigaction = skip;
    action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    sigaction(SIGSEGV, &action, NULL);
    seen = 0;
    read_null();
    sigaction(SIGSEGV, NULL, &before);
    claim(seen == 1 && before.sa_handler == SIG_DFL, "SA_RESETHAND");

    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    read_null();
    claim(seen == 2, "a handler on its own stack");

    pthread_t thread;
    pthread_create(&thread, NULL, faults_in_a_thread, NULL);
    pthread_join(thread, NULL);

    claim(ends(by_default) == SIGSEGV, "a fault ends a program");
    claim(ends(ignored) == 0, "an ignored signal is ignored");
    claim(ends(ignored_fault) == SIGSEGV, "a fault cannot be ignored");
    claim(ends(sent) == SIGSEGV, "a signal that is sent ends a program");
    claim(ends(privileged) == SIGSEGV, "a privileged instruction ends a program");
    claim(ends(in_its_handler) == SIGSEGV, "a fault in its handler ends a program");

    /* Longer than the watch: every thread and process then reads clock and counter freely. */
    struct timespec time;
    for (int i = 0; i < 100000; i++) clock_gettime(CLOCK_MONOTONIC, &time);
    claim(__rdtsc() < __rdtsc(), "the counter goes on after the watch");
    pthread_create(&thread, NULL, faults_in_a_thread, NULL);
    pthread_join(thread, NULL);
    return wrong;
}
