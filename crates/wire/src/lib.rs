//! Crosswind: wire.
