//! Crosswind: engine.
