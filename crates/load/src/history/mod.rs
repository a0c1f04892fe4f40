//! Concurrent operations on few keys of a store, and the history of what every client saw.
//!
//! | workload | operations, share |
//! |---|---|
//! | register | read 50 %, write 30 %, compare-and-set 20 % (of the value that this client saw last) |
//! | set | add 80 %, read 20 % |
//! | append | append 70 %, read 30 % |
//!
//! Every written value is another one, so a read shows which operation wrote it. Keys are chosen evenly.
//!
//! An operation ends as `ok`, as `fail` (it took no effect, and never will) or, if that is unknown, as `info`. The client then goes on as another
//! process, since its last operation may still take effect. A lost connection is made again before the next operation; where that
//! is impossible, the operation was not sent and has failed.
//!
//! After the load, every key is read once more, so that what was written last is seen.

pub mod client;
pub mod last_reads;
pub mod log;
pub mod servers;
pub mod store;
