//! Impairments: what goes wrong with single packets besides being lost or late.

mod corrupt;
mod duplicate;
mod reorder;

pub(crate) use corrupt::Corrupt;
pub(crate) use duplicate::Duplicate;
pub(crate) use reorder::Reorder;
