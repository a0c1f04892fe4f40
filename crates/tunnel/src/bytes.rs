//! Numbers in a datagram, most significant byte first. Reading never goes beyond the end.

/// Reads numbers in sequence.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(pub &'a [u8]);

macro_rules! numbers {
    ($($name:ident),*) => {$(
        /// The next number, if there are enough bytes.
        pub fn $name(&mut self) -> Option<$name> {
            let (first, rest) = self.0.split_first_chunk()?;
            self.0 = rest;
            Some($name::from_be_bytes(*first))
        }
    )*};
}

impl<'a> Reader<'a> {
    numbers!(u8, u16, u32, u64);

    /// The next `count` bytes, if there are that many.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
