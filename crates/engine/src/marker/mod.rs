//! Markers: elements that rewrite a packet's header.

mod mark;

pub(crate) use mark::Mark;
pub use mark::MarkSpec;
