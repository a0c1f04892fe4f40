//! Impairments of single packets other than loss and delay.

mod corrupt;
mod duplicate;
mod reorder;

pub(crate) use corrupt::Corrupt;
pub use corrupt::CorruptSpec;
pub(crate) use duplicate::Duplicate;
pub use duplicate::DuplicateSpec;
pub(crate) use reorder::Reorder;
pub use reorder::ReorderSpec;
