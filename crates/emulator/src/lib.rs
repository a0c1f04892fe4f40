//! Crosswind: emulator.
