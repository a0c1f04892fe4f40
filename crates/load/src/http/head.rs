//! The head of an answer: status, length of the body, and whether the connection stays. Pure functions of bytes.

use crate::failure::Failure;

/// Longest head that is accepted.
pub const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;

/// The head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    /// Size of the head itself.
    pub head_bytes: usize,
    /// Size of the body behind it.
    pub body_bytes: u64,
}

/// Reads the head from the bytes received so far; `None` when it is not complete.
///
/// # Errors
/// `Lost` when it is no head, or when no other answer can follow on this connection.
pub fn read(said: &[u8]) -> Result<Option<Head>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let head_bytes = match response.parse(said) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) if said.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(httparse::Status::Partial) => {
            return Err(Failure::Lost(format!(
                "the head of the answer is longer than {HEAD_BYTES_MAX} bytes"
            )));
        }
        Err(error) => return Err(Failure::Lost(format!("not an answer in HTTP/1.1: {error}"))),
    };
    let value = |name: &str| {
        let header = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| String::from_utf8_lossy(header.value))
    };
    let status = response.code.unwrap_or(0);
    if value("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
        return Err(Failure::Lost(format!(
            "the server closes the connection after this answer (status {status}); let it keep connections without limit"
        )));
    }
    if value("transfer-encoding").is_some() {
        return Err(Failure::Lost(
            "the body has no declared length (Transfer-Encoding); serve plain files".into(),
        ));
    }
    match value("content-length").and_then(|value| value.trim().parse().ok()) {
        Some(body_bytes) => Ok(Some(Head { status, head_bytes, body_bytes })),
        None => {
            Err(Failure::Lost("the body has no declared length (Content-Length); serve plain files".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // What nginx 1.22.1 said to `GET /1000`, without the body.
    const NGINX: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 20:50:00 GMT\r\nContent-Type: \
application/octet-stream\r\nContent-Length: 1000\r\nLast-Modified: Sat, 21 Nov 2026 20:49:00 GMT\r\nConnection: keep-alive\r\nETag: \
\"6740a-3e8\"\r\nAccept-Ranges: bytes\r\n\r\n";

    fn lost(said: &[u8]) -> String {
        match read(said) {
            Err(Failure::Lost(message)) => message,
            other => panic!("a lost connection, not {other:?}"),
        }
    }

    #[test]
    fn a_head_is_complete_with_its_last_byte_and_not_before() {
        for end in 0..NGINX.len() {
            assert_eq!(read(&NGINX[..end]), Ok(None), "{end}");
        }
        let head = Head { status: 200, head_bytes: NGINX.len(), body_bytes: 1000 };
        assert_eq!(read(NGINX), Ok(Some(head)));
        assert_eq!(read(&[NGINX, b"body"].concat()), Ok(Some(head)));
    }

    #[test]
    fn other_statuses_are_read_and_judged_by_somebody_else() {
        let head = read(b"HTTP/1.1 404 Not Found\r\ncontent-length: 153\r\n\r\n").unwrap().unwrap();
        assert_eq!((head.status, head.body_bytes), (404, 153));
    }

    #[test]
    fn what_cannot_be_followed_by_another_answer_costs_the_connection() {
        assert!(lost(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: Close\r\n\r\n")
            .contains("keep connections"));
        assert!(lost(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").contains("Transfer-Encoding"));
        assert!(lost(b"HTTP/1.1 200 OK\r\n\r\n").contains("Content-Length"));
        assert!(lost(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n").contains("Content-Length"));
        assert!(lost(b"SSH-2.0-OpenSSH_9.2p1\r\n").contains("not an answer in HTTP/1.1"));
        let endless = [b"HTTP/1.1 200 OK\r\nA: ".to_vec(), vec![b'a'; HEAD_BYTES_MAX]].concat();
        assert!(lost(&endless).contains("longer than"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(said in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&said);
        }

        #[test]
        fn no_change_of_a_byte_makes_the_reader_panic(place in 0..NGINX.len(), byte: u8) {
            let mut said = NGINX.to_vec();
            said[place] = byte;
            let _ = read(&said);
        }
    }
}
