//! The connections that a node accepts: each announces its number and is passed to the thread that waits for it.

use std::collections::HashMap;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::control::{Exchange, Load, Received};
use super::progress::{End, Progress};
use super::start::Start;
use super::{hello, message, stream, tcp};

const STACK_BYTES: usize = 512 << 10; // buffers are on the heap; hundreds of connections must be cheap
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(10);

/// What to do with one connection once it comes.
pub struct Expected {
    pub load: Load,
    pub congestion_control: Option<String>,
    pub start: Arc<Start>,
    /// Receives the result of the connection when it is done, or what was wrong with it.
    pub done: Box<dyn FnOnce(Result<Received, String>) + Send>,
}

/// The connections that are waited for, by run and number.
#[derive(Default)]
pub struct Desk {
    expected: Mutex<HashMap<(u64, usize), Expected>>,
}

impl Desk {
    /// Waits for a connection from now on.
    pub fn expect(&self, run: u64, number: usize, expected: Expected) {
        self.lock().insert((run, number), expected);
    }

    /// Forgets the connections of a run that have not come.
    pub fn forget(&self, run: u64) {
        self.lock().retain(|(of, _), _| *of != run);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(u64, usize), Expected>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes connections for ever, each in a thread of its own.
pub fn accept_for_ever(listener: &TcpListener, desk: &Arc<Desk>) {
    loop {
        let taken = listener.accept().and_then(|(connection, peer)| {
            let desk = Arc::clone(desk);
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
                if let Err(error) = take(connection, &desk) {
                    eprintln!("crosswind-load: connection from {peer} not taken: {error}");
                }
            })
        });
        if let Err(error) = taken {
            // Out of descriptors or threads: existing connections go on, and a later one may succeed.
            eprintln!("crosswind-load: cannot take a connection: {error}");
            std::thread::sleep(PAUSE_AFTER_ERROR);
        }
    }
}

fn take(mut connection: TcpStream, desk: &Desk) -> io::Result<()> {
    connection.set_read_timeout(Some(HELLO_TIMEOUT))?;
    let (run, number) = hello::hear(&mut connection)?;
    connection.set_read_timeout(None)?;
    connection.set_nodelay(true)?;
    let expected = desk.lock().remove(&(run, number));
    let expected =
        expected.ok_or_else(|| io::Error::other(format!("no run waits for connection {number}")))?;
    let prepared = expected
        .congestion_control
        .as_ref()
        .map_or(Ok(()), |name| tcp::set_congestion_control(&connection, name));
    let result = prepared
        .and_then(|()| expected.start.wait().ok_or_else(|| "the run was called off".into()))
        .map(|start_ns| serve(&connection, number, &expected.load, start_ns));
    (expected.done)(result);
    Ok(())
}

fn serve(connection: &TcpStream, number: usize, load: &Load, start_ns: u64) -> Received {
    let window = load.window(start_ns);
    match load.exchange {
        Exchange::Stream { .. } => {
            let progress = Progress::new(number, End::Receiver, window, load.progress_ns);
            let (counted, ended) = stream::receive(connection, window, load.part_ns, progress);
            Received { number, counted, cpu_ns: ended.cpu_ns, lost: ended.lost }
        }
        Exchange::Messages { .. } => {
            let (counted, cpu_ns, lost) = message::answer_all(connection, window, load.part_ns);
            Received { number, counted, cpu_ns, lost }
        }
    }
}
