//! The Internet checksum (RFC 1071), where a cut super-packet or a damaged packet needs it.

/// One's-complement sum of 16-bit words, folded; an odd last byte is padded with zero.
fn sum(bytes: &[u8], start: u32) -> u32 {
    let mut sum = start;
    let mut words = bytes.chunks_exact(2);
    for word in &mut words {
        sum += u32::from(u16::from_be_bytes([word[0], word[1]]));
    }
    if let [last] = words.remainder() {
        sum += u32::from(*last) << 8;
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

/// The checksum of an IPv4 header whose checksum field is zero.
pub fn ipv4_header(header: &[u8]) -> u16 {
    !(sum(header, 0) as u16)
}

/// The pseudo-header sum that a transport header carries when its checksum is left to the device
/// (not complemented, as `VIRTIO_NET_HDR_F_NEEDS_CSUM` wants it).
pub fn pseudo_header(addresses: &[u8], protocol: u8, transport_bytes: u32) -> u16 {
    sum(addresses, u32::from(protocol) + (transport_bytes >> 16) + (transport_bytes & 0xffff)) as u16
}

/// The checksum over a transport header and payload whose checksum field holds the pseudo-header's sum. Never 0, which would
/// mean in UDP that there is none (RFC 768; in TCP 0xffff says the same as 0).
pub fn complete(transport: &[u8]) -> u16 {
    match !(sum(transport, 0) as u16) {
        0 => 0xffff,
        check => check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of RFC 1071, section 3: 0001 f203 f4f5 f6f7 sums to ddf2.
    #[test]
    fn the_sum_of_rfc_1071_is_reproduced() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7], 0), 0xddf2);
    }

    #[test]
    fn a_header_with_its_checksum_sums_to_all_ones() {
        let mut header =
            [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
        let check = ipv4_header(&header);
        assert_eq!(check, 0xb861);
        header[10..12].copy_from_slice(&check.to_be_bytes());
        assert_eq!(sum(&header, 0), 0xffff);
    }
}
