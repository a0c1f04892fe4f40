//! Opens the ports of all nodes, while the interfaces of others are still being made.
//!
//! Opening is mostly waiting: for memory of a ring that the kernel clears, and until every processor has passed through the
//! scheduler. So several threads do it, each for one port after the other.

use std::io;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::Veth;

/// A thousand ports on two processors: 7 s longer with 2 threads than with 8, and no faster with 32.
const THREADS: usize = 16;

/// A port that was asked for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    node: usize,
    ifindex: i32,
}

/// Threads that open ports; dropping it ends them.
#[derive(Debug)]
pub struct PortOpener {
    /// Gone once nothing more will be asked for.
    asked: Option<Sender<Asked>>,
    opened: Receiver<(usize, io::Result<Veth>)>,
    threads: Vec<JoinHandle<()>>,
    nodes: usize,
}

impl PortOpener {
    /// Starts the threads, for as many ports in all. To be called on a thread inside the fabric's network namespace.
    ///
    /// # Errors
    /// Where the machine has no thread to spare.
    pub fn start(nodes: usize) -> io::Result<Self> {
        let (asked, waiting) = channel();
        let (done, opened) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let mut opener = Self { asked: Some(asked), opened, threads: Vec::new(), nodes };
        for _ in 0..THREADS.min(nodes) {
            let (waiting, done) = (Arc::clone(&waiting), done.clone());
            // A new thread is in the network namespace of its maker.
            opener.threads.push(Builder::new().spawn(move || open_each(&waiting, &done, nodes))?);
        }
        Ok(opener)
    }

    /// Opens the port of this node on the interface of this index.
    pub fn open(&self, node: usize, ifindex: i32) {
        // The threads end when this is dropped, not before.
        let _ = self.asked.as_ref().map(|asked| asked.send(Asked { node, ifindex }));
    }

    /// Waits for all; returns the ports in the order of nodes, or the first node whose port could not be opened.
    pub fn finish(mut self) -> Result<Vec<Veth>, (usize, io::Error)> {
        self.asked = None;
        let mut ports: Vec<Option<Veth>> = (0..self.nodes).map(|_| None).collect();
        for (node, port) in self.opened.iter().take(self.nodes) {
            ports[node] = Some(port.map_err(|error| (node, error))?);
        }
        let opened = |(node, port): (usize, Option<Veth>)| port.ok_or((node, io::ErrorKind::NotFound.into()));
        ports.into_iter().enumerate().map(opened).collect()
    }
}

impl Drop for PortOpener {
    /// Waits for the threads: what comes next may count on having one alone.
    fn drop(&mut self) {
        self.asked = None;
        for thread in self.threads.drain(..) {
            // One that panicked has printed its message, and its port is missing.
            let _ = thread.join();
        }
    }
}

/// Opens one port after the other until there are no more to come.
fn open_each(waiting: &Mutex<Receiver<Asked>>, done: &Sender<(usize, io::Result<Veth>)>, nodes: usize) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Asked { node, ifindex }) = next else { return };
        // Nobody may wait for it any more.
        let _ = done.send((node, Veth::open(ifindex, nodes)));
    }
}
