//! Signals: SIGSYS and SIGSEGV stay deliverable to the image, whatever the program does with them.
//!
//! A trapped call while SIGSYS is blocked or ignored would end the program, and so would a fault of the time-stamp
//! counter (`faults`). So both are taken out of every mask, and the program's own actions for them are stored and carried
//! out for signals that are not the image's.

use crate::faults::{self, SIGSEGV};
use crate::kernel::{address, call, code_at, parameters, peek, poke, Arguments, EINVAL};
use crate::layout::Action;

const SIGSYS: u64 = 31;
const RT_SIGACTION: u64 = 13;
const MASK_BYTES: u64 = 8;
pub const SIG_DFL: u64 = 0;
pub const SIG_IGN: u64 = 1;
pub const SA_SIGINFO: u64 = 4;
pub const SA_RESTORER: u64 = 0x0400_0000;
const SA_ONSTACK: u64 = 0x0800_0000;
pub const SA_NODEFER: u64 = 0x4000_0000;
const SA_RESTART: u64 = 0x1000_0000;
/// Of the image's handlers, while the program has none.
pub const OWN_FLAGS: u64 = SA_SIGINFO | SA_RESTORER | SA_ONSTACK | SA_NODEFER | SA_RESTART;
const SIGKILL: u64 = 9;
const SIGSTOP: u64 = 19;

pub fn without_own(mask: u64) -> u64 {
    mask & !(1 << (SIGSYS - 1) | 1 << (SIGSEGV - 1))
}

/// Where the kernel returns to from a handler.
pub fn restorer() -> u64 {
    code_at!("crosswind_restorer")
}

/// Takes SIGSYS over.
pub fn begin() {
    let handler = code_at!("crosswind_handler");
    let own = Action { handler, flags: OWN_FLAGS, restorer: restorer(), mask: 0 };
    set_action(SIGSYS, address(&own), 0);
}

pub fn action([signal, new, old, size, ..]: Arguments) -> i64 {
    if size != MASK_BYTES {
        return EINVAL;
    }
    match signal & 0xffff_ffff {
        SIGSEGV => return faults::action(new, old),
        SIGSYS => {
            let stored = address(&parameters().sigsys);
            let before: Action = peek(stored);
            if new != 0 {
                let mut wanted: Action = peek(new);
                wanted.mask = without_own(wanted.mask);
                poke(stored, wanted);
            }
            if old != 0 {
                poke(old, before);
            }
            return 0;
        }
        _ => {}
    }
    let mut wanted: Action = peek(new);
    wanted.mask = without_own(wanted.mask);
    set_action(signal, address(&wanted), old)
}

/// Sets the action that the kernel has, and writes what it was.
pub fn set_action(signal: u64, new: u64, old: u64) -> i64 {
    call(RT_SIGACTION, [signal, new, old, MASK_BYTES, 0, 0])
}

/// Changes the mask that applies when the handler returns.
pub fn mask([how, new, old, size, ..]: Arguments, at: u64) -> i64 {
    if size != MASK_BYTES {
        return EINVAL;
    }
    let before: u64 = peek(at);
    let given: u64 = without_own(peek(new)) & !(1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1));
    let after = match how as u32 {
        0 => before | given,
        1 => before & !given,
        2 => given,
        _ => return EINVAL,
    };
    poke(at, after);
    if old != 0 {
        poke(old, before);
    }
    0
}

/// A SIGSYS that is not the image's: another process sent it, or a filter of the program trapped a call.
pub fn forward(info: u64, context: u64) {
    let stored: Action = peek(address(&parameters().sigsys));
    match stored.handler {
        SIG_IGN => {}
        SIG_DFL => {
            // A second one, with the default action, ends the process as the first would have.
            end_by(SIGSYS, true);
        }
        handler => {
            // SAFETY: the program set this address as its handler.
            let handler: extern "C" fn(i32, u64, u64) = unsafe { core::mem::transmute(handler as *const ()) };
            handler(SIGSYS as i32, info, context);
        }
    }
}

/// Gives a signal its default action, and sends it to this process.
pub fn end_by(signal: u64, send: bool) {
    set_action(signal, address(&Action::default()), 0);
    if send {
        let process = call(39, [0; 6]) as u64;
        call(62, [process, signal, 0, 0, 0, 0]);
    }
}
