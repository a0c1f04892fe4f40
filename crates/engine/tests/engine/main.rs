//! The engine's claims, from outside: golden tables, oracles and promises.

mod common;
mod delays;
mod links;
mod meters;
mod promises;
mod reconfiguring;
mod refusals;
mod scenario;
mod schedulers;
mod sources;
