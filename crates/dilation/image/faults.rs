//! SIGSEGV: the image sees it first, for the watch of the time-stamp counter, and hands every other one on.
//!
//! The kernel gets one of several entries of the image, whose number finds the program's own action. So an action that
//! a child sets between `vfork` and its program, in memory that it shares, does not change its parent's.

use core::arch::global_asm;
use core::sync::atomic::Ordering::Relaxed;

use crate::counter;
use crate::handler::CODE_AT;
use crate::kernel::{address, address_mut, call, code_at, parameters, peek, poke};
use crate::layout::{Action, FAULT_SLOTS};
use crate::signals::{
    end_by, restorer, set_action, without_own, OWN_FLAGS, SA_NODEFER, SA_RESTORER, SA_SIGINFO, SIG_DFL, SIG_IGN,
};

pub const SIGSEGV: u64 = 11;
const SA_RESETHAND: u64 = 0x8000_0000;
/// Bytes of code of an entry.
const ENTRY_BYTES: u64 = 16;
/// The code of a fault that the CPU does not explain, among them that of the counter.
const SI_KERNEL: i32 = 0x80;

/// Takes SIGSEGV over from a program that has not set an action yet.
pub fn begin() {
    // Ignored signals stay ignored in a new program.
    let mut inherited = Action::default();
    set_action(SIGSEGV, 0, address_mut(&mut inherited));
    set_action(SIGSEGV, address(&installed(inherited)), 0);
}

/// rt_sigaction of SIGSEGV.
pub fn action(new: u64, old: u64) -> i64 {
    let mut before = Action::default();
    let result = if new == 0 {
        set_action(SIGSEGV, 0, address_mut(&mut before))
    } else {
        let installed = installed(peek(new));
        set_action(SIGSEGV, address(&installed), address_mut(&mut before))
    };
    if result == 0 && old != 0 {
        poke(old, shown(before));
    }
    result
}

/// What the kernel gets in the place of the program's action.
fn installed(wanted: Action) -> Action {
    let slot = slot_of(wanted);
    let (flags, mask) = match wanted.handler {
        SIG_DFL | SIG_IGN => (OWN_FLAGS, 0),
        _ => (SA_SIGINFO | SA_RESTORER | SA_NODEFER | wanted.flags & !SA_RESETHAND, without_own(wanted.mask)),
    };
    Action { handler: code_at!("crosswind_faults") + slot * ENTRY_BYTES, flags, restorer: restorer(), mask }
}

/// Where this action is stored from now on. With more actions than places the last place has the newest.
fn slot_of(wanted: Action) -> u64 {
    let slots = &parameters().faults;
    if wanted.handler <= SIG_IGN {
        return wanted.handler;
    }
    let last = slots.len() as u64 - 1;
    for (slot, stored) in (0..).zip(slots).skip(2) {
        let stored = address(stored);
        let there: Action = peek(stored);
        if there.handler == 0 || slot == last {
            poke(stored, wanted);
            return slot;
        }
        if there == wanted {
            return slot;
        }
    }
    0
}

/// The program's action behind one of the kernel.
fn shown(kernels: Action) -> Action {
    let slot = kernels.handler.wrapping_sub(code_at!("crosswind_faults")) / ENTRY_BYTES;
    parameters().faults.get(slot as usize).map_or(kernels, |stored| peek(address(stored)))
}

/// Runs with SIGSEGV deliverable, so that the counter can be read in it.
#[no_mangle]
extern "C" fn crosswind_fault(_signal: i32, info: u64, context: u64, slot: u64) {
    let code: i32 = peek(info + CODE_AT);
    if code == SI_KERNEL && counter::answer(context) {
        return;
    }
    let Some(stored) = parameters().faults.get(slot as usize) else { return };
    let stored: Action = peek(address(stored));
    match stored.handler {
        SIG_IGN if code <= 0 => {}
        SIG_DFL | SIG_IGN => {
            // The instruction faults again, and the process ends as it would have.
            let again = code > 0 && code != SI_KERNEL;
            end_by(SIGSEGV, !again);
        }
        handler => {
            if stored.flags & SA_RESETHAND != 0 {
                set_action(SIGSEGV, address(&installed(Action::default())), 0);
            }
            // A filter of the program's own may forbid both calls.
            let filtered = parameters().watch.filtered.load(Relaxed) != 0;
            if stored.flags & SA_NODEFER == 0 && !filtered {
                // A fault of the counter would end the program while the signal is blocked.
                counter::free();
                let blocked = 1_u64 << (SIGSEGV - 1);
                call(14, [0, address(&blocked), 0, 8, 0, 0]);
            }
            // SAFETY: the program set this address as its handler.
            let handler: extern "C" fn(i32, u64, u64) = unsafe { core::mem::transmute(handler as *const ()) };
            handler(SIGSEGV as i32, info, context);
        }
    }
}

global_asm!(
    ".globl crosswind_faults",
    ".type crosswind_faults, @function",
    ".balign {bytes}",
    "crosswind_faults:",
    ".set slot, 0",
    ".rept {slots}",
    "mov ecx, slot",
    "jmp crosswind_fault",
    ".balign {bytes}",
    ".set slot, slot + 1",
    ".endr",
    ".size crosswind_faults, . - crosswind_faults",
    bytes = const ENTRY_BYTES,
    slots = const FAULT_SLOTS,
);
