//! What is fuzzed. Every function takes any bytes and panics where a claim is broken.

mod capture;
mod elements;
mod forwarder;
mod headers;
mod history;
mod pcapng;
mod recording;

pub use capture::capture_file;
pub use crosswind_tunnel::hostile::anything as tunnel;
pub use elements::elements;
pub use forwarder::{forwarder, Hostile};
pub use headers::headers;
pub use history::history;
pub use pcapng::pcapng;
pub use recording::recording;
