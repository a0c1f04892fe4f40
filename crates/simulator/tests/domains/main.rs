//! Domains decide as one network does, whatever they are: outcomes, counters, readings, draws.

mod claims;
mod network;
mod play;
