//! The smallest distributed application: a question of a chosen size, an answer of a chosen size.
//!
//! It shows what a network does to request and response alone, without a database's own behaviour on top.

pub mod client;
pub mod frame;
pub mod server;
