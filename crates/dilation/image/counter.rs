//! The watch for programs that read the time-stamp counter themselves, which nothing slows down.
//!
//! While it lasts, the instruction faults into the image, which counts it by page of code and answers with the true
//! counter. It begins where the program does, behind the dynamic loader, and ends after a number of readings of the
//! counter or of a clock: the kernel's vDSO reads the counter, too, so clocks are system calls meanwhile. The setting
//! belongs to a thread, and only the thread itself can change it. So at the end each of them faults once more.

use core::arch::x86_64::{__rdtscp, _rdtsc};
use core::sync::atomic::Ordering::Relaxed;

use crate::handler::{RAX, RCX, RDX, RIP};
use crate::kernel::{call, parameters, peek, poke, report_reads};
use crate::layout::READS_NAMED;

const PRCTL: u64 = 157;
const PR_SET_TSC: u64 = 26;
const PR_TSC_ENABLE: u64 = 1;
const PR_TSC_SIGSEGV: u64 = 2;

/// Whether a clock has to be read by a system call; counts the reading.
#[inline]
pub fn watched() -> bool {
    let left = &parameters().watch.clocks_left;
    let before = left.load(Relaxed);
    if before == 0 {
        return false;
    }
    // Threads that read at once count once: the number bounds a cost.
    left.store(before - 1, Relaxed);
    true
}

/// Begins the watch in this thread, and in those that it will start.
pub fn begin() {
    call(PRCTL, [PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0, 0]);
}

/// Ends the watch before a filter of the program's own applies to this thread.
pub fn end() {
    let watch = &parameters().watch;
    watch.clocks_left.store(0, Relaxed);
    watch.filtered.store(1, Relaxed);
    free();
}

/// Lets this thread read the counter.
pub fn free() {
    call(PRCTL, [PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0, 0]);
}

/// Carries out the instruction that faulted, if it reads the counter; returns whether it does.
pub fn answer(context: u64) -> bool {
    let at: u64 = peek(context + RIP);
    // The third byte of a shorter instruction may not be there.
    let length = match peek::<[u8; 2]>(at) {
        [0x0f, 0x31] => 2,
        [0x0f, 0x01] if peek::<u8>(at + 2) == 0xf9 => 3,
        _ => return false,
    };
    free();
    let [begins, ends] = parameters().vdso;
    if at >= begins && at < ends || !lasts(at) {
        // Repeated by a thread that may.
        return true;
    }
    let mut processor = 0;
    // SAFETY: the program was about to carry out the same instruction.
    let ticks = unsafe {
        if length == 3 {
            __rdtscp(&raw mut processor)
        } else {
            _rdtsc()
        }
    };
    poke(context + RAX, ticks & 0xffff_ffff);
    poke(context + RDX, ticks >> 32);
    if length == 3 {
        poke(context + RCX, u64::from(processor));
    }
    poke(context + RIP, at + length);
    begin();
    true
}

/// Counts a reading at this address; returns whether the watch goes on.
fn lasts(at: u64) -> bool {
    let watch = &parameters().watch;
    if watch.clocks_left.load(Relaxed) == 0 {
        return false;
    }
    // As in `watched`.
    let left = watch.reads_left.load(Relaxed);
    if left == 0 {
        watch.clocks_left.store(0, Relaxed);
        return false;
    }
    watch.reads_left.store(left - 1, Relaxed);
    let page = at >> 12;
    for counted in &watch.pages {
        let there = counted.page.compare_exchange(0, page, Relaxed, Relaxed).unwrap_or_else(|there| there);
        if there == 0 || there == page {
            if counted.reads.fetch_add(1, Relaxed) + 1 == READS_NAMED {
                report_reads(at);
            }
            break;
        }
    }
    true
}
