//! Crosswind: load.
fn main() {}
