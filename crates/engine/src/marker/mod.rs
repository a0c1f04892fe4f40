//! Markers: what rewrites a packet's header.

mod mark;

pub(crate) use mark::Mark;
pub use mark::MarkSpec;
