//! `crosswind-load`: offers load to a real server and records every operation.
//!
//! Several workloads share one loop. `ycsb` is the core workload set of the Yahoo! Cloud Serving Benchmark on a real store;
//! `history` is concurrent operations on few keys, whose answers are checked afterwards; `memcached` is Facebook's ETC mix; `http` fetches objects from a web server; `rpc` sends
//! requests to a server of its own, which answers with a chosen size. Each operation has three instants (intended, started,
//! finished), all CLOCK_MONOTONIC nanoseconds. All of them are written; percentiles are computed by the reader of the file.
//!
//! **Why threads and blocking sockets, not an asynchronous runtime.** What is measured here is tens of microseconds.
//! A blocking read returns in the thread that stamps the clock; a runtime puts a poll, a waker and a queue between the
//! two, and its timer has steps of one millisecond. Connections are few (tens), so one thread each is cheap.
//!
//! **Why a library with a program of three lines.** libFuzzer calls functions, so the code that reads bytes from other machines has to be
//! callable from outside (`fuzz/`).
//!
//! The interface (arguments, files, exit status) is section 4 of `docs/reference/contracts.md`.

mod arguments;
mod arrivals;
mod clock;
mod commands;
mod driver;
mod exit;
mod failure;
mod flood;
mod history;
mod http;
mod live;
mod memcached;
mod output;
mod plan;
mod probe;
mod random;
mod relay;
mod rpc;
mod sample;
mod signals;
mod stop;
mod stream;
mod together;
mod traffic;
mod udp;
mod warmth;
mod ycsb;

use std::process::ExitCode;

use clap::Parser;

#[cfg(fuzzing)]
pub use traffic::hostile;

/// The program: reads its arguments, carries out the command, and returns its exit status.
pub fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    match commands::carry_out(&arguments.command) {
        Ok(code) => code,
        Err(failed) => {
            eprintln!("crosswind-load: {failed}");
            failed.exit_code()
        }
    }
}
