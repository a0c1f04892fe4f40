//! One end of a socket that reaches to another machine, whose file system is another one.
//!
//! What the socket says is printed. What it is to hear comes as files named 0, 1 and so on, each whole when it has its
//! name: the caller carries them from the other end's output. An empty file closes the socket. The end of the socket is
//! the end of the process.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How often the next file is looked for.
const LOOK: Duration = Duration::from_millis(5);
const CHUNK: usize = 1 << 16;

/// Waits for the one connection to a new socket.
pub fn listen(socket: &Path) -> Result<UnixStream, String> {
    let refused = |error: io::Error| {
        format!("listen on \"{}\": {error}; write a new file in a folder that is there", socket.display())
    };
    let listener = UnixListener::bind(socket).map_err(refused)?;
    println!("listening");
    listener.accept().map(|(stream, _)| stream).map_err(refused)
}

/// Connects to a socket that is there.
pub fn connect(socket: &Path) -> Result<UnixStream, String> {
    UnixStream::connect(socket).map_err(|error| format!("connect to \"{}\": {error}", socket.display()))
}

/// Carries bytes until the socket ends. `print` gets what it says.
pub fn run(mut socket: UnixStream, from: &Path, mut print: impl Write + Send + 'static) -> io::Result<()> {
    let ended = Arc::new(AtomicBool::new(false));
    let mut says = socket.try_clone()?;
    let printing = thread::spawn({
        let ended = Arc::clone(&ended);
        move || {
            let mut chunk = vec![0; CHUNK];
            let mut pass = || loop {
                match says.read(&mut chunk)? {
                    0 => return Ok(()),
                    count => print.write_all(&chunk[..count]).and_then(|()| print.flush())?,
                }
            };
            let passed: io::Result<()> = pass();
            ended.store(true, Ordering::Release);
            passed
        }
    });
    let mut number = 0_u64;
    while !ended.load(Ordering::Acquire) {
        match fs::read(from.join(number.to_string())) {
            // It may have ended since, which the reader finds.
            Ok(bytes) if bytes.is_empty() || socket.write_all(&bytes).is_err() => {
                let _ = socket.shutdown(Shutdown::Both);
                break;
            }
            Ok(_) => number += 1,
            Err(error) if error.kind() == ErrorKind::NotFound => thread::sleep(LOOK),
            Err(error) => return Err(error),
        }
    }
    printing.join().unwrap_or_else(|_| Err(io::Error::other("the reader of the socket panicked")))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{channel, Sender};

    use super::*;

    struct Out(Sender<Vec<u8>>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_socket_hears_files_in_order_until_an_empty_one_and_is_printed() {
        let folder = std::env::temp_dir().join(format!("crosswind-relay-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (mut here, there) = UnixStream::pair().unwrap();
        let (out, printed) = channel();
        let relay = thread::spawn({
            let folder = folder.clone();
            move || run(there, &folder, Out(out))
        });
        here.write_all(b"hello").unwrap();
        assert_eq!(printed.recv().unwrap(), b"hello");
        // The second is there first.
        for (name, text) in [("1", "world"), ("0", "good ")] {
            fs::write(folder.join("part"), text).unwrap();
            fs::rename(folder.join("part"), folder.join(name)).unwrap();
        }
        let mut heard = [0; 10];
        here.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"good world");
        fs::write(folder.join("2"), "").unwrap();
        assert_eq!(here.read(&mut heard).unwrap(), 0);
        relay.join().unwrap().unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
