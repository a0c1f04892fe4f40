//! Tests the engine from outside: golden tables, oracles and promises.

mod cellular;
mod common;
mod crossings;
mod delays;
mod described;
mod impairments;
mod jitter;
mod links;
mod losses;
mod meters;
mod monitors;
mod poisson_and_on_off;
mod processes;
mod promises;
mod queues;
mod reconfiguring;
mod refusals;
mod responsive;
mod scenario;
mod schedulers;
mod shapers;
mod shared_memory;
mod sources;
mod three_colours;
