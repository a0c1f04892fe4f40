//! Symbols of a small ELF file in memory: the image's, and those of the kernel's vDSO.

/// A file that can be read by its section headers, as both are.
pub struct Elf<'a> {
    bytes: &'a [u8],
}

/// SHT_DYNSYM.
const DYNAMIC_SYMBOLS: u32 = 11;

impl<'a> Elf<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The address of a dynamic symbol, relative to the start of the file.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        let headers = self.number(40, 8)?;
        let section = |number: u64| headers + 64 * number;
        let symbols = (0..self.number(60, 2)?)
            .map(section)
            .find(|&header| self.number(header + 4, 4) == Some(u64::from(DYNAMIC_SYMBOLS)))?;
        let names = self.number(section(self.number(symbols + 40, 4)?) + 24, 8)?;
        let (first, length) = (self.number(symbols + 24, 8)?, self.number(symbols + 32, 8)?);
        (first..first + length).step_by(24).find_map(|symbol| {
            let at = (names + self.number(symbol, 4)?) as usize;
            let text = self.bytes.get(at..at + name.len() + 1)?;
            (text.strip_suffix(b"\0")? == name.as_bytes()).then(|| self.number(symbol + 8, 8))?
        })
    }

    /// A little-endian number of up to 8 bytes.
    fn number(&self, at: u64, bytes: usize) -> Option<u64> {
        let part = self.bytes.get(at as usize..at as usize + bytes)?;
        Some(part.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// The kernel's vDSO in this process, which is the same in every process but for its address; `None` where it has none.
pub fn kernels() -> Option<&'static [u8]> {
    // SAFETY: this call takes no pointers.
    let at = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
    if at == 0 {
        return None;
    }
    // SAFETY: the kernel mapped an ELF file there, which stays as long as the process and has a whole header.
    let header = Elf::new(unsafe { std::slice::from_raw_parts(at as *const u8, 64) });
    let length = header.number(40, 8)? + 64 * header.number(60, 2)?;
    // SAFETY: the section headers are the end of the file, and the kernel maps all of it.
    Some(unsafe { std::slice::from_raw_parts(at as *const u8, length as usize) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_vdso_has_a_clock() {
        let Some(bytes) = kernels() else {
            println!("SKIPPED: this kernel has no vDSO");
            return;
        };
        assert!(Elf::new(bytes).symbol("__vdso_clock_gettime").is_some_and(|at| at > 0));
        assert_eq!(Elf::new(bytes).symbol("__vdso_clock"), None);
    }

    #[test]
    fn a_file_that_is_cut_off_has_no_symbols() {
        for length in 0..crate::image::CODE.len().min(200) {
            assert_eq!(Elf::new(&crate::image::CODE[..length]).symbol("crosswind_start"), None);
        }
    }
}
