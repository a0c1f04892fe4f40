//! Shapers: elements that delay packets until they conform. They count IP bytes.

mod credit;
mod credit_loop;
mod edt;
mod exact_instant;
mod shape;
mod two_speed;

pub(crate) use credit::Credit;
pub use credit::{CreditLevel, CreditSpec};
pub use credit_loop::LoopSpec;
pub(crate) use edt::Pace;
pub use edt::PaceSpec;
pub(crate) use shape::Shape;
pub use shape::ShapeSpec;
