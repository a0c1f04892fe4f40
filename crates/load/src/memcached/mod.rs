//! Facebook's ETC mix on a memcached: small GETs, rare SETs, sizes by the published distributions, popularity by Zipf's law.
//!
//! | what | distribution | source |
//! |---|---|---|
//! | requests | GET and SET, one SET to 30 GETs (`--set-share` 0.033) | the paper |
//! | key sizes | generalised extreme value | the paper's model |
//! | value sizes | a table up to 14 bytes, generalised Pareto from 15 bytes | the paper's model |
//! | popularity | Zipf with exponent 0.99 over `--keys` keys | none: the paper publishes no model of it |
//! | arrivals | those of the plan (`plan`): closed loop, or at a rate, evenly or at random | deviation: the paper's vary more |
//!
//! `memcached-prepare` stores every key once, so a GET that finds nothing means that the server had to evict, and
//! counts as an error. DELETEs (a few per cent of ETC) are left out for the same reason.
//!
//! **Both protocols by hand.** In text a GET and a SET are one line each way and a length; in binary they are a header.
//! The client crates put a pool, a buffer of their own and an allocation for every value between the socket and the clock.
//!
//! Source: Atikoglu et al., "Workload analysis of a large-scale key-value store", SIGMETRICS 2012.

pub mod client;
pub mod etc;
pub mod prepare;
pub mod protocol;
