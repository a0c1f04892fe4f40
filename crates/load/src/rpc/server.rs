//! Answers requests, one thread for each connection. The memory of a connection is fixed, whatever lengths the client announces.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use super::frame::{self, REQUEST_HEADER_BYTES, RESPONSE_HEADER_BYTES};

const CHUNK_BYTES: usize = 64 << 10;
const STACK_BYTES: usize = 256 << 10; // one chunk lives on it; thousands of connections must be cheap
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(10);

/// Listens on the address and answers from now on; returns the address (with the actual port, if 0 was requested).
pub fn start(listen: &str) -> Result<SocketAddr, String> {
    let refused = |error: io::Error| {
        format!("listen on \"{listen}\": {error}; write a local ADDRESS:PORT that is free")
    };
    let listener = TcpListener::bind(listen).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    std::thread::spawn(move || accept_for_ever(&listener));
    Ok(address)
}

fn accept_for_ever(listener: &TcpListener) {
    loop {
        let served = listener.accept().and_then(|(connection, peer)| {
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || serve(connection, peer))
        });
        if let Err(error) = served {
            // Out of descriptors or threads: existing connections go on, and a later one may succeed.
            eprintln!("crosswind-load: cannot take a connection: {error}");
            std::thread::sleep(PAUSE_AFTER_ERROR);
        }
    }
}

fn serve(connection: TcpStream, peer: SocketAddr) {
    if let Err(error) = connection.set_nodelay(true).and_then(|()| answer_all(connection)) {
        eprintln!("crosswind-load: connection from {peer} given up: {error}");
    }
}

/// Answers until the client closes between two requests (Ok), or breaks off or sends an invalid request (Err).
fn answer_all(mut connection: impl Read + Write) -> io::Result<()> {
    let mut chunk = [0; CHUNK_BYTES];
    while let Some(header) = read_header(&mut connection)? {
        let request = frame::parse_request(header)
            .map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad.to_string()))?;
        discard(&mut connection, request.padding_bytes, &mut chunk)?;
        answer(&mut connection, request.response_bytes, &mut chunk)?;
    }
    Ok(())
}

fn read_header(connection: &mut impl Read) -> io::Result<Option<[u8; REQUEST_HEADER_BYTES]>> {
    let mut header = [0; REQUEST_HEADER_BYTES];
    let first = loop {
        match connection.read(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => break other?,
        }
    };
    if first == 0 {
        return Ok(None);
    }
    connection.read_exact(&mut header[first..])?;
    Ok(Some(header))
}

fn discard(connection: &mut impl Read, mut bytes: usize, chunk: &mut [u8]) -> io::Result<()> {
    while bytes > 0 {
        let part = bytes.min(chunk.len());
        connection.read_exact(&mut chunk[..part])?;
        bytes -= part;
    }
    Ok(())
}

fn answer(connection: &mut impl Write, response_bytes: u32, chunk: &mut [u8]) -> io::Result<()> {
    // Header and first bytes go in one write, so that a small answer is one packet.
    chunk[..RESPONSE_HEADER_BYTES].copy_from_slice(&frame::response_header(response_bytes));
    let mut left = response_bytes as usize;
    while left > 0 {
        let part = left.min(chunk.len());
        connection.write_all(&chunk[..part])?;
        left -= part;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A peer that has said everything it has to say, and hears the answers.
    struct Script {
        said: io::Cursor<Vec<u8>>,
        heard: Vec<u8>,
    }

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.said.read(buffer)
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.heard.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn talk(said: Vec<u8>) -> (io::Result<()>, Vec<u8>) {
        let mut script = Script { said: io::Cursor::new(said), heard: Vec::new() };
        let mut chunk_reader = &mut script;
        let result = answer_all(&mut chunk_reader);
        (result, script.heard)
    }

    #[test]
    fn each_request_gets_an_answer_of_the_size_it_asked_for() {
        let mut said = frame::request(20, 70_000);
        said.extend(frame::request(100_000, 4));
        let (result, heard) = talk(said);
        result.unwrap();
        assert_eq!(heard.len(), 70_004);
        assert_eq!(heard[..4], 70_000u32.to_be_bytes());
        assert_eq!(heard[70_000..], 4u32.to_be_bytes());
    }

    #[test]
    fn a_hostile_length_gets_no_answer() {
        let mut said = vec![0xff; 8];
        said.extend(frame::request(8, 4));
        let (result, heard) = talk(said);
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(heard.is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_server_panic_or_talk_out_of_turn(mut said in proptest::collection::vec(any::<u8>(), 0..64)) {
            // Small responses only, or the test spends its time writing megabytes.
            if let Some(byte) = said.get_mut(5) { *byte = 0; }
            let claims_a_whole_request = said.len() >= REQUEST_HEADER_BYTES;
            let (_, heard) = talk(said);
            prop_assert!(claims_a_whole_request || heard.is_empty());
        }
    }
}
