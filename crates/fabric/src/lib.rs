//! Crosswind: fabric.
