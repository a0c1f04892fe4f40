//! The image as it is put into a process: a page of parameters, and the code behind it.

use std::ffi::c_void;
use std::sync::atomic::AtomicU64;

use crate::elf::{self, Elf};
use crate::layout::{
    Action, PageReads, Parameters, Watch, ADDRESS, CLOCKS_MAX, FAULT_SLOTS, MAGIC, PAGE, READS_MAX, RESERVED,
    TIMERS, TRAP,
};
use crate::map::Map;

/// An ELF file with one segment, whose addresses start at 0.
pub const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.so"));

/// Address of the code, where a program finds its vDSO.
pub const CODE_ADDRESS: u64 = ADDRESS + PAGE;

const SIG_IGN: u64 = 1;

/// What all processes of a node get.
pub struct Image {
    pub map: Map,
    /// Where a process begins.
    pub start: u64,
    /// Where a program begins that is watched.
    pub entry: u64,
    /// Functions of the kernel's vDSO, relative to it, and its size.
    clock_gettime: Option<u64>,
    getcpu: Option<u64>,
    vdso_bytes: u64,
}

impl Image {
    /// `None` where there is no image for this CPU.
    pub fn new(map: Map) -> Option<Self> {
        let code = Elf::new(CODE);
        let kernels = elf::kernels();
        let function = |name| kernels.and_then(|bytes| Elf::new(bytes).symbol(name));
        Some(Self {
            map,
            start: CODE_ADDRESS + code.symbol("crosswind_start")?,
            entry: CODE_ADDRESS + code.symbol("crosswind_entry")?,
            clock_gettime: function("__vdso_clock_gettime"),
            getcpu: function("__vdso_getcpu"),
            vdso_bytes: kernels.map_or(0, |bytes| (bytes.len() as u64).next_multiple_of(PAGE)),
        })
    }

    /// Bytes that it takes in a process.
    pub fn bytes() -> u64 {
        PAGE + (CODE.len() as u64).next_multiple_of(PAGE)
    }

    /// The parameters of a process.
    ///
    /// `vdso`: the address of its own; 0 where it has none. `start`, `entry`: as the parameters have them. `watched`:
    /// whether readings of the time-stamp counter are counted.
    pub fn parameters(&self, vdso: u64, [start, entry]: [u64; 2], watched: bool) -> Vec<u8> {
        let function = |offset: Option<u64>| offset.filter(|_| vdso != 0).map_or(0, |offset| vdso + offset);
        let mut faults = [Action::default(); FAULT_SLOTS];
        faults[1].handler = SIG_IGN;
        let parameters = Parameters {
            magic: MAGIC,
            map: self.map,
            clock_gettime: function(self.clock_gettime),
            getcpu: function(self.getcpu),
            vdso: if vdso == 0 { [0, 0] } else { [vdso, vdso + self.vdso_bytes] },
            start,
            entry,
            watch: Watch {
                clocks_left: if watched { CLOCKS_MAX } else { 0 }.into(),
                reads_left: READS_MAX.into(),
                filtered: u64::from(!watched).into(),
                pages: [const { PageReads { page: AtomicU64::new(0), reads: AtomicU64::new(0) } }; 32],
            },
            faults,
            sigsys: Action::default(),
            timer_clocks: [0; TIMERS],
        };
        let length = size_of::<Parameters>();
        // SAFETY: the structure has no padding (asserted below), so all its bytes are initialised.
        unsafe { std::slice::from_raw_parts((&raw const parameters).cast::<u8>(), length) }.to_vec()
    }

    /// The factor of a process that has the image; `None` where it has not, or is out of reach.
    pub fn factor_of(pid: i32) -> Option<u64> {
        let mut first = [0_u64; 2];
        let mut here = libc::iovec { iov_base: first.as_mut_ptr().cast::<c_void>(), iov_len: 16 };
        let mut there = libc::iovec { iov_base: ADDRESS as *mut c_void, iov_len: 16 };
        // SAFETY: one writes into `first`, which is 16 bytes long; the other is an address in another process.
        let read = unsafe { libc::process_vm_readv(pid, &raw mut here, 1, &raw mut there, 1, 0) };
        (read == 16 && first[0] == MAGIC).then_some(first[1])
    }
}

const _: () = assert!(size_of::<Parameters>() as u64 <= PAGE);
// All fields are 8 bytes wide, or bytes in a multiple of 8.
const _: () =
    assert!(size_of::<Parameters>() == 8 + 8 * 26 + 8 * 6 + 8 * (3 + 64) + 32 * (FAULT_SLOTS + 1) + TIMERS);
const _: () = assert!(CODE.len() as u64 + PAGE <= RESERVED);
const _: () = assert!(TRAP != 0);

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_image_needs_no_relocation_and_is_small() {
        // SHT_RELA is 4, SHT_REL is 9; the type is the second number of a section header.
        let number = |at: usize| u32::from_le_bytes(CODE[at..at + 4].try_into().unwrap());
        let headers = u64::from_le_bytes(CODE[40..48].try_into().unwrap()) as usize;
        let count = u16::from_le_bytes(CODE[60..62].try_into().unwrap()) as usize;
        assert!((0..count).all(|section| ![4, 9].contains(&number(headers + 64 * section + 4))));
        assert!(CODE.len() < 32 << 10, "{} bytes", CODE.len());
    }

    #[test]
    fn the_image_has_what_a_vdso_has() {
        for name in ["clock_gettime", "gettimeofday", "time", "clock_getres", "getcpu"] {
            assert!(Elf::new(CODE).symbol(&format!("__vdso_{name}")).is_some(), "{name}");
        }
    }

    #[test]
    fn unwinders_recognise_the_restorer() {
        let at = Elf::new(CODE).symbol("crosswind_restorer").unwrap() as usize;
        assert_eq!(CODE[at..at + 9], [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]);
    }
}
