//! Impairments: what goes wrong with single packets besides being lost or late.

mod corrupt;
mod duplicate;
mod reorder;

pub(crate) use corrupt::Corrupt;
pub use corrupt::CorruptSpec;
pub(crate) use duplicate::Duplicate;
pub use duplicate::DuplicateSpec;
pub(crate) use reorder::Reorder;
pub use reorder::ReorderSpec;
