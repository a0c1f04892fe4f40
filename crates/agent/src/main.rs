//! Crosswind: agent.
fn main() {}
