//! Signals: SIGSYS stays deliverable to the image, whatever the program does with it.
//!
//! A trapped call while SIGSYS is blocked or ignored would end the program, so SIGSYS is taken out of every mask, and
//! the program's own action for it is stored and carried out for signals that are not the image's.

use crate::kernel::{address, call, parameters, peek, poke, Arguments, EINVAL};
use crate::layout::Action;

const SIGSYS: u64 = 31;
const RT_SIGACTION: u64 = 13;
const MASK_BYTES: u64 = 8;
const SIG_DFL: u64 = 0;
const SIG_IGN: u64 = 1;
const SIGKILL: u64 = 9;
const SIGSTOP: u64 = 19;

pub fn without_sigsys(mask: u64) -> u64 {
    mask & !(1 << (SIGSYS - 1))
}

pub fn action([signal, new, old, size, ..]: Arguments) -> i64 {
    if size != MASK_BYTES {
        return EINVAL;
    }
    let mut wanted: Action = peek(new);
    wanted.mask = without_sigsys(wanted.mask);
    if signal & 0xffff_ffff == SIGSYS {
        let stored = address(&parameters().sigsys);
        let before: Action = peek(stored);
        poke(stored, wanted);
        if old != 0 {
            poke(old, before);
        }
        return 0;
    }
    call(RT_SIGACTION, [signal, address(&wanted), old, size, 0, 0])
}

/// Changes the mask that applies when the handler returns.
pub fn mask([how, new, old, size, ..]: Arguments, at: u64) -> i64 {
    if size != MASK_BYTES {
        return EINVAL;
    }
    let before: u64 = peek(at);
    let given: u64 = without_sigsys(peek(new)) & !(1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1));
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
            let default = Action { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
            call(RT_SIGACTION, [SIGSYS, address(&default), 0, MASK_BYTES, 0, 0]);
            let process = call(39, [0; 6]) as u64;
            call(62, [process, SIGSYS, 0, 0, 0, 0]);
        }
        handler => {
            // SAFETY: the program set this address as its handler.
            let handler: extern "C" fn(i32, u64, u64) = unsafe { core::mem::transmute(handler as *const ()) };
            handler(SIGSYS as i32, info, context);
        }
    }
}
