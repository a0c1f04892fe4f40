//! The smallest distributed application: requests and responses of chosen sizes.
//!
//! It shows what a network does to request and response alone, without a database's own behaviour on top.

pub mod client;
pub mod frame;
pub mod server;
