//! Where a process begins: before its first instruction, and where its dynamic loader hands over to the program.

use core::arch::global_asm;
use core::sync::atomic::Ordering::Relaxed;

use crate::kernel::parameters;
use crate::layout::{Parameters, ADDRESS};
use crate::{counter, faults, signals};

/// Before the loader, or the program where it has none.
#[no_mangle]
extern "C" fn crosswind_begin() {
    signals::begin();
    if parameters().watch.clocks_left.load(Relaxed) != 0 {
        // The setting is its parent's until here. The loader reads the counter, and would be counted.
        counter::free();
    }
}

/// Before the program that is watched.
#[no_mangle]
extern "C" fn crosswind_watch() {
    faults::begin();
    counter::begin();
}

// The stack is as the kernel or the loader left it. A loader hands on a function in rdx; the kernel hands on zeros.
global_asm!(
    ".globl crosswind_start",
    ".type crosswind_start, @function",
    "crosswind_start:",
    "call crosswind_begin",
    "xor eax, eax",
    "xor ecx, ecx",
    "xor edx, edx",
    "xor esi, esi",
    "xor edi, edi",
    "xor r8d, r8d",
    "xor r9d, r9d",
    "xor r10d, r10d",
    "movabs r11, {start}",
    "jmp qword ptr [r11]",
    ".size crosswind_start, . - crosswind_start",
    ".globl crosswind_entry",
    ".type crosswind_entry, @function",
    "crosswind_entry:",
    "push rdx",
    "push rdx",
    "call crosswind_watch",
    "pop rdx",
    "pop rdx",
    "movabs r11, {entry}",
    "jmp qword ptr [r11]",
    ".size crosswind_entry, . - crosswind_entry",
    start = const ADDRESS + core::mem::offset_of!(Parameters, start) as u64,
    entry = const ADDRESS + core::mem::offset_of!(Parameters, entry) as u64,
);
