//! Shapers: what delays packets until they conform. They count IP bytes.

mod shape;

pub(crate) use shape::Shape;
