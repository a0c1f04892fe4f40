//! Writes a file while the emulator runs, and never makes it wait.
//!
//! Items gather in blocks; full blocks go through a bounded channel to a thread that writes them. Where the disk is slower than the
//! network for longer than the channel holds, or refuses, whole blocks are lost, and counted. Memory is bounded by [`BLOCKS`] blocks of
//! [`BLOCK_BYTES`].

use std::io::{self, Write};
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::thread::JoinHandle;

/// Octets gathered before they are handed to the thread.
const BLOCK_BYTES: usize = 64 << 10;
/// Blocks that may wait: 16 MiB, about a second of recording at 600 000 packets a second.
const BLOCKS: usize = 256;
/// Room beyond a full block, so that the item that fills the block does not reallocate it.
const ITEM_BYTES: usize = 2 << 10;

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Items in the file.
    pub items: u64,
    /// Items that are not.
    pub lost: u64,
    /// Why the disk refused, if it did.
    pub error: Option<String>,
}

/// A file that is being written.
#[derive(Debug)]
pub struct Background {
    block: Vec<u8>,
    /// Items in `block`.
    pending: u64,
    /// Items handed to the thread.
    handed: u64,
    lost: u64,
    blocks: SyncSender<Vec<u8>>,
    spares: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

/// What happened to the block that an item was appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It has room for more.
    Open,
    /// The thread has it.
    Handed,
    /// The channel was full: its items are lost.
    Lost,
}

impl Background {
    /// Starts the thread.
    pub fn start<W: Write + Send + 'static>(name: &str, output: W) -> io::Result<Self> {
        let (blocks, full) = sync_channel(BLOCKS);
        let (empty, spares) = channel();
        let thread =
            std::thread::Builder::new().name(name.into()).spawn(move || write_all(output, &full, &empty))?;
        let block = Vec::with_capacity(BLOCK_BYTES + ITEM_BYTES);
        Ok(Self { block, pending: 0, handed: 0, lost: 0, blocks, spares, thread })
    }

    /// Appends an item; never waits.
    pub fn item(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Block {
        put(&mut self.block);
        self.pending += 1;
        if self.block.len() < BLOCK_BYTES {
            return Block::Open;
        }
        let next = self.spares.try_recv().unwrap_or_else(|_| Vec::with_capacity(self.block.capacity()));
        let full = std::mem::replace(&mut self.block, next);
        let items = std::mem::take(&mut self.pending);
        match self.blocks.try_send(full) {
            Ok(()) => {
                self.handed += items;
                Block::Handed
            }
            Err(_) => {
                self.lost += items;
                Block::Lost
            }
        }
    }

    /// Counts an item as lost without trying to write it.
    pub fn lose(&mut self) {
        self.lost += 1;
    }

    /// Items lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Appends the end of the file, waits for the disk, and returns what became of the file.
    pub fn finish(mut self, put: impl FnOnce(&mut Vec<u8>)) -> Written {
        put(&mut self.block);
        // A thread that has died has dropped its end; its error follows.
        let handed = self.blocks.send(std::mem::take(&mut self.block)).is_ok();
        drop(self.blocks);
        let error = match self.thread.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the thread that writes died".to_owned()),
        };
        let (items, lost) = if handed {
            (self.handed + self.pending, self.lost)
        } else {
            (self.handed, self.lost + self.pending)
        };
        // Blocks that the thread had taken before the disk refused are not counted one by one.
        Written { items, lost: if error.is_some() { lost.max(1) } else { lost }, error }
    }
}

fn write_all<W: Write>(mut output: W, full: &Receiver<Vec<u8>>, empty: &Sender<Vec<u8>>) -> io::Result<()> {
    for mut block in full {
        output.write_all(&block)?;
        block.clear();
        // The recorder has ended, so the block is not needed any more.
        let _ = empty.send(block);
    }
    output.flush()
}
