//! Numbers in as few octets as they need: LEB128, and zigzag for differences.

/// Appends a number.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Small differences of either sign become small numbers.
pub(crate) fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// The difference that [`zigzag`] made a number of.
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Adds seven bits to a number; `None` where they do not fit into 64.
pub(crate) fn extend(number: u64, octet: u8, position: u32) -> Option<u64> {
    let bits = u64::from(octet & 0x7f);
    let shifted = bits.checked_shl(7 * position)?;
    (shifted >> (7 * position) == bits).then_some(number | shifted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Option<u64> {
        (0..).zip(bytes).try_fold(0, |number, (position, &octet)| extend(number, octet, position))
    }

    #[test]
    fn a_number_beyond_64_bits_is_refused() {
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Some(u64::MAX));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None);
        assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]), None);
    }

    proptest! {
        #[test]
        fn what_is_put_is_read_back(number: u64, difference: i64) {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            prop_assert_eq!(read(&bytes), Some(number));
            prop_assert_eq!(unzigzag(zigzag(difference)), difference);
        }
    }
}
