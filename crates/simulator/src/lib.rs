//! Crosswind: simulator.
