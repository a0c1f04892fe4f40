//! The bytes of a request and of a response. Pure: no socket here.
//!
//! A request is its own length (u32, big-endian, all of it counted), the requested length of the response (likewise), and
//! padding. A response is its own length and padding. So the requested sizes are exactly the TCP payload.

use std::fmt;
use std::ops::RangeInclusive;

/// Largest message: no network condition needs a larger one, and a hostile length must not make a server busy for long.
pub const MESSAGE_BYTES_MAX: u32 = 16 << 20;
/// Bytes in front of a request's padding.
pub const REQUEST_HEADER_BYTES: usize = 8;
/// Bytes in front of a response's padding.
pub const RESPONSE_HEADER_BYTES: usize = 4;
/// Sizes that a request may have.
pub const REQUEST_SIZES: RangeInclusive<i64> = REQUEST_HEADER_BYTES as i64..=MESSAGE_BYTES_MAX as i64;
/// Sizes that a response may have.
pub const RESPONSE_SIZES: RangeInclusive<i64> = RESPONSE_HEADER_BYTES as i64..=MESSAGE_BYTES_MAX as i64;

/// What a request says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes that follow the header.
    pub padding_bytes: usize,
    /// Requested size of the response, header included.
    pub response_bytes: u32,
}

/// A length outside of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLength {
    what: &'static str,
    bytes: u32,
    bytes_min: usize,
}

impl fmt::Display for BadLength {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadLength { what, bytes, bytes_min } = self;
        write!(
            formatter,
            "{what} of {bytes} bytes: must be {bytes_min} to {MESSAGE_BYTES_MAX}; is the peer a crosswind-load?"
        )
    }
}

/// A whole request of `request_bytes`, which must lie in [`REQUEST_SIZES`].
pub fn request(request_bytes: u32, response_bytes: u32) -> Vec<u8> {
    let mut bytes = vec![0; request_bytes as usize];
    bytes[..4].copy_from_slice(&request_bytes.to_be_bytes());
    bytes[4..8].copy_from_slice(&response_bytes.to_be_bytes());
    bytes
}

/// Reads a request's header and refuses lengths that no client of ours sends.
pub fn parse_request(header: [u8; REQUEST_HEADER_BYTES]) -> Result<Request, BadLength> {
    let [a, b, c, d, e, f, g, h] = header;
    let request_bytes = length("request", u32::from_be_bytes([a, b, c, d]), REQUEST_HEADER_BYTES)?;
    let response_bytes = length("response", u32::from_be_bytes([e, f, g, h]), RESPONSE_HEADER_BYTES)?;
    Ok(Request { padding_bytes: request_bytes as usize - REQUEST_HEADER_BYTES, response_bytes })
}

/// The header of a response of this size.
pub fn response_header(response_bytes: u32) -> [u8; RESPONSE_HEADER_BYTES] {
    response_bytes.to_be_bytes()
}

fn length(what: &'static str, bytes: u32, bytes_min: usize) -> Result<u32, BadLength> {
    if (bytes_min..=MESSAGE_BYTES_MAX as usize).contains(&(bytes as usize)) {
        Ok(bytes)
    } else {
        Err(BadLength { what, bytes, bytes_min })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header_of(request: &[u8]) -> [u8; REQUEST_HEADER_BYTES] {
        request[..REQUEST_HEADER_BYTES].try_into().unwrap()
    }

    #[test]
    fn a_request_is_as_long_on_the_wire_as_asked_for() {
        let bytes = request(100, 5000);
        assert_eq!(bytes.len(), 100);
        assert_eq!(bytes[..8], [0, 0, 0, 100, 0, 0, 0x13, 0x88]);
        assert_eq!(parse_request(header_of(&bytes)), Ok(Request { padding_bytes: 92, response_bytes: 5000 }));
    }

    #[test]
    fn an_http_client_is_told_what_it_is_talking_to() {
        let message = parse_request(*b"GET / HT").unwrap_err().to_string();
        assert_eq!(
            message,
            "request of 1195725856 bytes: must be 8 to 16777216; is the peer a crosswind-load?"
        );
    }

    proptest! {
        #[test]
        fn hostile_lengths_are_refused_and_honest_ones_survive(header: [u8; REQUEST_HEADER_BYTES]) {
            let request_bytes = u32::from_be_bytes(header[..4].try_into().unwrap());
            let response_bytes = u32::from_be_bytes(header[4..].try_into().unwrap());
            let honest = (8..=MESSAGE_BYTES_MAX).contains(&request_bytes)
                && (4..=MESSAGE_BYTES_MAX).contains(&response_bytes);
            prop_assert_eq!(parse_request(header).is_ok(), honest);
        }

        #[test]
        fn what_a_client_writes_a_server_reads(
            request_bytes in 8u32..100_000,
            response_bytes in 4u32..=MESSAGE_BYTES_MAX,
        ) {
            let parsed = parse_request(header_of(&request(request_bytes, response_bytes))).unwrap();
            prop_assert_eq!(parsed.padding_bytes, request_bytes as usize - REQUEST_HEADER_BYTES);
            prop_assert_eq!(parsed.response_bytes, response_bytes);
        }
    }
}
