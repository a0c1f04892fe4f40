//! The core workloads A to F of the Yahoo! Cloud Serving Benchmark, on a real store.
//!
//! | workload | operations | keys |
//! |---|---|---|
//! | a | 50 % read, 50 % update | zipfian |
//! | b | 95 % read, 5 % update | zipfian |
//! | c | 100 % read | zipfian |
//! | d | 95 % read, 5 % insert | latest |
//! | e | 95 % scan, 5 % insert | zipfian |
//! | f | 50 % read, 50 % read-modify-write | zipfian |
//!
//! Records have ten fields of 100 bytes, or of `--field-length`; a read takes all fields, an update writes one, a scan takes 1 to 100 records.
//! The generators are those of YCSB (`core/src/main/java/site/ycsb`), so key names and popularity are the same; the
//! random numbers behind them are not.
//!
//! Deviations. A read-modify-write has a row for the whole and one for its update; YCSB counts its read among the reads
//! as well. Which connection performs how many operations is not fixed in
//! advance, so that all stay busy to the end. A read that finds no record is an error, where YCSB only counts it.
//!
//! Source: Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010; YCSB 0.17.0.

pub mod chooser;
pub mod client;
pub mod key;
pub mod keyspace;
pub mod record;
pub mod store;
pub mod workload;
pub mod zipfian;
