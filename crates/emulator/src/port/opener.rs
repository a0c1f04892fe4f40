//! Opens the ports of all nodes, while the interfaces of other nodes are still being made.
//!
//! Opening consists mostly of waiting: for the kernel to clear a ring's memory, and until every CPU has passed through
//! the scheduler. So several threads do it, each for one port at a time.

use std::io;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::Veth;

/// A thousand ports on two CPUs: 7 s longer with 2 threads than with 8, and no faster with 32.
const THREADS: usize = 16;

/// A request to open a port.
#[derive(Clone, Copy, Debug)]
struct Request {
    node: usize,
    ifindex: i32,
}

/// The threads that open ports; dropping this ends them.
#[derive(Debug)]
pub struct PortOpener {
    /// `None` when there will be no more requests.
    requests: Option<Sender<Request>>,
    opened: Receiver<(usize, io::Result<Veth>)>,
    threads: Vec<JoinHandle<()>>,
    nodes: usize,
}

impl PortOpener {
    /// Starts the threads, for this number of ports in total. Call it on a thread inside the fabric's network
    /// namespace.
    ///
    /// # Errors
    /// When the machine cannot start another thread.
    pub fn start(nodes: usize) -> io::Result<Self> {
        let (requests, waiting) = channel();
        let (done, opened) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let mut opener = Self { requests: Some(requests), opened, threads: Vec::new(), nodes };
        for _ in 0..THREADS.min(nodes) {
            let (waiting, done) = (Arc::clone(&waiting), done.clone());
            // A new thread is in the network namespace of the thread that started it.
            opener.threads.push(Builder::new().spawn(move || open_each(&waiting, &done, nodes))?);
        }
        Ok(opener)
    }

    /// Opens the port of this node on the interface with this index.
    pub fn open(&self, node: usize, ifindex: i32) {
        // The threads end when this value is dropped, not before.
        let _ = self.requests.as_ref().map(|requests| requests.send(Request { node, ifindex }));
    }

    /// Waits for all ports; returns them in the order of nodes, or the first node whose port could not be opened.
    pub fn finish(mut self) -> Result<Vec<Veth>, (usize, io::Error)> {
        self.requests = None;
        let mut ports: Vec<Option<Veth>> = (0..self.nodes).map(|_| None).collect();
        for (node, port) in self.opened.iter().take(self.nodes) {
            ports[node] = Some(port.map_err(|error| (node, error))?);
        }
        let opened = |(node, port): (usize, Option<Veth>)| port.ok_or((node, io::ErrorKind::NotFound.into()));
        ports.into_iter().enumerate().map(opened).collect()
    }
}

impl Drop for PortOpener {
    /// Waits for the threads: later steps may require a single-threaded process.
    fn drop(&mut self) {
        self.requests = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed its message, and its port is missing.
            let _ = thread.join();
        }
    }
}

/// Opens ports one at a time until there are no more requests.
fn open_each(waiting: &Mutex<Receiver<Request>>, done: &Sender<(usize, io::Result<Veth>)>, nodes: usize) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Request { node, ifindex }) = next else { return };
        // The receiver may have gone.
        let _ = done.send((node, Veth::open(ifindex, nodes)));
    }
}
