//! Hostile input for everything that reads what it did not write.
//!
//! A [`target`] is a function of bytes that must come back, whatever the bytes are: it panics where a claim is broken. The same functions
//! run in three ways:
//!
//! * `cargo test -p crosswind-fuzz`: every file of the committed corpus (`fuzz/corpus/TARGET/`), and some thousand
//!   [mutations](mutate) of each. Needs nothing but stable Rust.
//! * `cargo run --release -p crosswind-fuzz --bin hostile -- 10000000`: ten million hostile packets through headers, engine, monitors and
//!   forwarder.
//! * `cargo +nightly fuzz run TARGET` in the repository's root: libFuzzer with coverage and the address sanitizer (`fuzz/`).
//!
//! Readers inside programs cannot be called from here: their targets stand beside them, and run the first way only (`protocol` in the agent),
//! or the first and the last (`traffic` in `crosswind-load`).
//!
//! A file that has broken a claim is added to the corpus, and stays.

pub mod corpus;
pub mod cursor;
pub mod mutate;
pub mod target;
