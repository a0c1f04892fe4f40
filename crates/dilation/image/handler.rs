//! The handler of SIGSYS: finds the call in the table, makes it with other times, and leaves its result in the program's
//! registers.


use crate::calls::{What, CALLS};
use crate::kernel::{call, parameters, peek, poke, Arguments, ENOSYS};
use crate::layout::TRAP;
use crate::{clocks, counter, futex, signals, sockets, timers, waits};

/// `siginfo_t`: si_errno, si_code.
const ERRNO_AT: u64 = 4;
pub const CODE_AT: u64 = 8;
const SYS_SECCOMP: i32 = 1;
/// `ucontext_t` of x86-64: the registers follow flags, link and stack; the mask follows the registers.
const REGISTERS_AT: u64 = 40;
pub const MASK_AT: u64 = 296;
pub const RDX: u64 = REGISTERS_AT + 8 * 12;
pub const RAX: u64 = REGISTERS_AT + 8 * 13;
pub const RCX: u64 = REGISTERS_AT + 8 * 14;
pub const RIP: u64 = REGISTERS_AT + 8 * 16;
/// rdi, rsi, rdx, r10, r8, r9.
const ARGUMENTS: [u64; 6] = [8, 9, 12, 2, 0, 1];

/// What happens to each call, by number. The names stay outside of the image.
static ACTIONS: [Option<What>; 512] = {
    let mut actions = [None; 512];
    let mut at = 0;
    while at < CALLS.len() {
        actions[CALLS[at].number as usize] = Some(CALLS[at].what);
        at += 1;
    }
    actions
};

/// Runs with the program's own signal mask, so that a signal interrupts a wait as usual.
#[no_mangle]
extern "C" fn crosswind_handler(_signal: i32, info: u64, context: u64) {
    let code: i32 = peek(info + CODE_AT);
    let errno: i32 = peek(info + ERRNO_AT);
    if code != SYS_SECCOMP || errno != i32::from(TRAP) {
        return signals::forward(info, context);
    }
    let number: u64 = peek(context + RAX);
    let arguments = ARGUMENTS.map(|register| peek(context + REGISTERS_AT + 8 * register));
    let at: u64 = peek(context + RIP);
    let [first, last] = parameters().vdso;
    // The kernel's vDSO had to ask the kernel: the image called it, and computes with the real time.
    let result = if at >= first && at < last {
        call(number, arguments)
    } else {
        carry_out(number, arguments, context)
    };
    poke(context + RAX, result);
}

fn carry_out(number: u64, arguments: Arguments, context: u64) -> i64 {
    let Some(Some(what)) = ACTIONS.get(number as usize) else {
        return ENOSYS;
    };
    let [a, b, c, d, ..] = arguments;
    match *what {
        // The filter answers these, or sends them to the supervisor.
        What::Execute | What::Refuse | What::Absent => ENOSYS,
        What::Wait(wait) => waits::wait(number, arguments, wait),
        What::Until { at, clock } => waits::until(number, arguments, at, clock),
        What::ReadClock => clocks::read_clock(a as i32, b),
        What::ReadTimeOfDay => clocks::read_time_of_day(a, b),
        What::ReadSeconds => clocks::read_seconds(a),
        What::ReadTicks => clocks::read_ticks(a),
        What::ReadUptime => clocks::read_uptime(a),
        What::ReadUsage(at) => read_usage(number, arguments, at),
        What::ClockNanosleep => waits::clock_nanosleep(a as i32, b, c, d),
        What::Futex => futex::futex(arguments),
        What::TimerfdSettime => timers::timerfd_settime(a, b, c, d),
        What::TimerfdGettime => timers::gettime(number, a, b),
        What::TimerCreate => timers::create(a, b, c),
        What::TimerSettime => timers::settime(a, b, c, d),
        What::TimerGettime => timers::gettime(number, a, b),
        What::Setitimer => timers::setitimer(a, b, c),
        What::Getitimer => timers::getitimer(a, b),
        What::Alarm => timers::alarm(a),
        What::SetOption => sockets::set(arguments),
        What::GetOption => sockets::get(arguments),
        What::Ioctl => sockets::stamp(),
        What::SignalAction => signals::action(arguments),
        What::OwnFilter => {
            // It may forbid what the watch needs.
            counter::end();
            call(number, arguments)
        }
        What::SignalMask => signals::mask(arguments, context + MASK_AT),
    }
}

fn read_usage(number: u64, arguments: Arguments, at: u8) -> i64 {
    let result = call(number, arguments);
    let usage = waits::argument(&arguments, at);
    // With WNOHANG and no child, wait4 writes nothing; what is there was not a result, and stays.
    let written = result > 0 || (result == 0 && number != WAIT4);
    if written {
        clocks::shrink_usage(usage);
    }
    result
}

const WAIT4: u64 = 61;
