//! `crosswind-load`: offers load to a real server and records every operation.
//!
//! Several workloads, one loop. `ycsb` is the core workload set of the Yahoo! Cloud Serving Benchmark on a real store;
//! `memcached` is Facebook's ETC mix; `http` fetches objects from a web server; `rpc` asks a server of its own for
//! answers of a chosen size. Each operation has three instants (intended, started,
//! finished), all CLOCK_MONOTONIC nanoseconds, and all of them are kept: percentiles are somebody else's business.
//!
//! **Why threads and blocking sockets, not an asynchronous runtime.** What is measured here is tens of microseconds.
//! A blocking read returns in the thread that stamps the clock; a runtime puts a poll, a waker and a queue between the
//! two, and its timer has steps of one millisecond. Connections are few (tens), so one thread each is cheap.
//!
//! **Why a library with a program of three lines.** libFuzzer calls functions, so what the program hears from others has to be
//! reachable from outside (`fuzz/`).
//!
//! The interface (arguments, files, exit status) is section 4 of `docs/reference/contracts.md`.

mod arguments;
mod arrivals;
mod clock;
mod driver;
mod exit;
mod flood;
mod http;
mod memcached;
mod output;
mod plan;
mod probe;
mod random;
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
use std::sync::Arc;

use clap::Parser;

use arguments::{Arguments, Command, RunArguments};
use driver::Session;
use exit::Failed;
use plan::Plan;
use stop::{Stop, StopReason};
use ycsb::client::Client;
use ycsb::keyspace::KeySpace;
use ycsb::record::Table;
use ycsb::store::{self, NotPrepared};

#[cfg(fuzzing)]
pub use traffic::hostile;

/// The program: reads its arguments, does what they say, and returns its exit status.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match carry_out(&arguments.command) {
        Ok(code) => code,
        Err(failed) => {
            eprintln!("crosswind-load: {failed}");
            failed.exit_code()
        }
    }
}

fn carry_out(command: &Command) -> Result<ExitCode, Failed> {
    // Before any thread exists, so that every thread inherits the mask and the waiting thread alone sees the signals.
    signals::block();
    match command {
        Command::YcsbPrepare(arguments) => {
            arguments.target.check().map_err(Failed::Usage)?;
            let table = Table {
                records: arguments.records,
                field_bytes: arguments.field_length as usize,
                seed: arguments.seed,
            };
            prepare(|stop| store::prepare(&arguments.target, table, stop))
        }
        Command::Ycsb(arguments) => {
            arguments.target.check().map_err(Failed::Usage)?;
            let plan = Plan::new(arguments.clients, arguments.operations, arguments.duration, &arguments.run)
                .map_err(Failed::Usage)?;
            let insert_start = arguments.insert_start.unwrap_or(arguments.records);
            if insert_start < arguments.records {
                return Err(Failed::Usage(format!(
                    "--insert-start {insert_start}: the keys below --records {} are taken; give at least that",
                    arguments.records
                )));
            }
            let keys = Arc::new(KeySpace::new(arguments.records, insert_start));
            let chooser = arguments.workload.chooser(arguments.records, arguments.operations);
            measure(&plan, arguments, &arguments.run, |number, stop| {
                let store = store::connect(&arguments.target, stop)?;
                let (chooser, seed) = (chooser.clone(), arguments.run.seed);
                let field_bytes = arguments.field_length as usize;
                Ok(Client::new(store, arguments.workload, &keys, chooser, seed, number, field_bytes))
            })
        }
        Command::MemcachedPrepare(arguments) => prepare(|stop| {
            memcached::prepare::prepare(&arguments.server, arguments.keys, arguments.seed, stop)
        }),
        Command::Memcached(arguments) => {
            let plan = Plan::new(arguments.connections, None, Some(arguments.duration), &arguments.run)
                .map_err(Failed::Usage)?;
            let mix = memcached::client::Mix::new(arguments.keys, arguments.set_share);
            measure(&plan, arguments, &arguments.run, |number, stop| {
                memcached::client::Client::connect(
                    &arguments.server,
                    arguments.protocol,
                    &mix,
                    arguments.run.seed,
                    number,
                    stop,
                )
            })
        }
        Command::Http(arguments) => {
            let plan = Plan::new(arguments.connections, None, Some(arguments.duration), &arguments.run)
                .map_err(Failed::Usage)?;
            measure(&plan, arguments, &arguments.run, |number, stop| {
                http::client::Client::connect(
                    &arguments.server,
                    &arguments.object_bytes,
                    arguments.run.seed,
                    number,
                    stop,
                )
            })
        }
        Command::ProbeSend(arguments) => {
            let stop = Arc::new(Stop::new());
            signals::stop_on_signal(&stop);
            probe::send(arguments, &stop).map(|()| ExitCode::SUCCESS)
        }
        Command::ProbeReceive(arguments) => {
            let stop = Arc::new(Stop::new());
            signals::stop_on_signal(&stop);
            probe::receive(arguments, &stop).map(|()| ExitCode::SUCCESS)
        }
        Command::FloodSend(arguments) => {
            let stop = Arc::new(Stop::new());
            signals::stop_on_signal(&stop);
            flood::send(arguments, &stop).map(|()| ExitCode::SUCCESS)
        }
        Command::FloodReceive(arguments) => {
            let stop = Arc::new(Stop::new());
            signals::stop_on_signal(&stop);
            flood::receive(arguments, &stop).map(|()| ExitCode::SUCCESS)
        }
        Command::TrafficServe(arguments) => {
            let listening =
                traffic::node::start(&arguments.listen, &arguments.control).map_err(Failed::Unreachable)?;
            println!("listening {listening}");
            signals::wait();
            Ok(ExitCode::SUCCESS)
        }
        Command::Traffic(arguments) => {
            signals::exit_on_signal();
            let complaint = traffic::coordinator::run(arguments)?;
            if let Some(complaint) = &complaint {
                eprintln!("crosswind-load: {complaint}");
            }
            Ok(complaint.map_or(ExitCode::SUCCESS, |_| ExitCode::from(exit::TOO_MANY_ERRORS)))
        }
        Command::MongodbCommand(arguments) => {
            let stop = Arc::new(Stop::new());
            signals::stop_on_signal(&stop);
            println!("{}", store::mongodb::single::run(&arguments.server, &arguments.command, &stop)?);
            Ok(ExitCode::SUCCESS)
        }
        Command::CassandraCommand(arguments) => {
            let stop = Arc::new(Stop::new());
            signals::stop_on_signal(&stop);
            let rows = store::cassandra::single::run(
                &arguments.server,
                &arguments.statement,
                &arguments.consistency,
                &stop,
            )?;
            println!("rows {rows}");
            Ok(ExitCode::SUCCESS)
        }
        Command::RpcServe(arguments) => {
            let listening = rpc::server::start(&arguments.listen).map_err(Failed::Unreachable)?;
            println!("listening {listening}");
            signals::wait();
            Ok(ExitCode::SUCCESS)
        }
        Command::Rpc(arguments) => {
            let plan = Plan::new(arguments.connections, None, Some(arguments.duration), &arguments.run)
                .map_err(Failed::Usage)?;
            measure(&plan, arguments, &arguments.run, |_, stop| {
                rpc::client::Caller::connect(
                    &arguments.server,
                    arguments.request_bytes,
                    arguments.response_bytes,
                    stop,
                )
            })
        }
    }
}

fn prepare(fill: impl FnOnce(&Arc<Stop>) -> Result<(), NotPrepared>) -> Result<ExitCode, Failed> {
    let stop = Arc::new(Stop::new());
    signals::stop_on_signal(&stop);
    fill(&stop).map(|()| ExitCode::SUCCESS).map_err(|failure| match (failure, stop.reason()) {
        (_, Some(StopReason::Signal(number))) => Failed::Stopped(number),
        (NotPrepared::Unreachable(message), _) => Failed::Unreachable(message),
        (NotPrepared::Failed(failure), _) => {
            Failed::Refused(format!("the server could not be filled: {failure}"))
        }
    })
}

/// Runs the load, writes both files whatever happened to it, and turns the result into an exit status.
fn measure<S: Session>(
    plan: &Plan,
    parameters: &impl serde::Serialize,
    run: &RunArguments,
    connect: impl Fn(usize, &Arc<Stop>) -> Result<S, String> + Sync,
) -> Result<ExitCode, Failed> {
    let files = output::Files::create(&run.samples, &run.summary).map_err(Failed::Usage)?;
    let stop = Arc::new(Stop::new());
    signals::stop_on_signal(&stop);
    let outcome = driver::run(plan, &stop, connect).map_err(Failed::Unreachable)?;
    files.write(&outcome, parameters).map_err(Failed::Internal)?;
    if let Some(complaint) = outcome.complaint(run.error_share_max) {
        eprintln!("crosswind-load: {complaint}");
    }
    Ok(outcome.exit_code(run.error_share_max))
}
