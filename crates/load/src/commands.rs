//! What each command does: one function for each.

use std::fmt::Display;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::arguments::{
    CassandraCommand, Command, FloodReceive, FloodSend, History, HistoryCheck, HistoryPrepare, Http,
    Memcached, MemcachedPrepare, MongodbCommand, ProbeReceive, ProbeSend, Relay, Rpc, RpcServe, RunArguments,
    Traffic, TrafficServe, Ycsb, YcsbPrepare,
};
use crate::driver::{self, Outcome, Session};
use crate::exit::{Failed, TOO_MANY_ERRORS};
use crate::failure::NotPrepared;
use crate::history::client::Shared;
use crate::history::last_reads;
use crate::history::servers::Servers;
use crate::live::Live;
use crate::plan::Plan;
use crate::stop::{Stop, StopReason};
use crate::ycsb::client::Client;
use crate::ycsb::keyspace::KeySpace;
use crate::ycsb::record::Table;
use crate::ycsb::store;
use crate::{flood, history, http, memcached, output, probe, relay, rpc, signals, traffic};

/// Carries out a command and returns the exit status of one that has a result.
pub fn carry_out(command: &Command) -> Result<ExitCode, Failed> {
    // Before any thread exists, so that every thread inherits the mask and the waiting thread alone sees the signals.
    signals::block();
    match command {
        Command::YcsbPrepare(arguments) => ycsb_prepare(arguments),
        Command::Ycsb(arguments) => ycsb(arguments),
        Command::HistoryPrepare(arguments) => history_prepare(arguments),
        Command::History(arguments) => history(arguments),
        Command::HistoryCheck(arguments) => history_check(arguments),
        Command::MongodbCommand(arguments) => mongodb_command(arguments),
        Command::CassandraCommand(arguments) => cassandra_command(arguments),
        Command::RpcServe(arguments) => rpc_serve(arguments),
        Command::Rpc(arguments) => rpc(arguments),
        Command::MemcachedPrepare(arguments) => memcached_prepare(arguments),
        Command::Memcached(arguments) => memcached(arguments),
        Command::Http(arguments) => http(arguments),
        Command::TrafficServe(arguments) => traffic_serve(arguments),
        Command::Traffic(arguments) => traffic(arguments),
        Command::Relay(arguments) => relay(arguments),
        Command::ProbeSend(arguments) => probe_send(arguments),
        Command::ProbeReceive(arguments) => probe_receive(arguments),
        Command::FloodSend(arguments) => flood_send(arguments),
        Command::FloodReceive(arguments) => flood_receive(arguments),
    }
}

fn ycsb_prepare(arguments: &YcsbPrepare) -> Result<ExitCode, Failed> {
    store::check(&arguments.target).map_err(Failed::Usage)?;
    let table = Table {
        records: arguments.records,
        field_bytes: arguments.field_length as usize,
        seed: arguments.seed,
    };
    prepare(|stop| store::prepare(&arguments.target, table, stop))
}

fn ycsb(arguments: &Ycsb) -> Result<ExitCode, Failed> {
    store::check(&arguments.target).map_err(Failed::Usage)?;
    let plan = arguments.plan().map_err(Failed::Usage)?;
    let insert_start = arguments.insert_start().map_err(Failed::Usage)?;
    let keys = Arc::new(KeySpace::new(arguments.records, insert_start));
    let chooser = arguments.workload.chooser(arguments.records, arguments.operations);
    measure(&plan, arguments, &arguments.run, |number, stop| {
        let (target, stop) = (arguments.target.clone(), Arc::clone(stop));
        let connect = move || store::connect(&target, &stop);
        let (chooser, seed) = (chooser.clone(), arguments.run.seed);
        let field_bytes = arguments.field_length as usize;
        Client::connect(connect, arguments.workload, &keys, chooser, seed, number, field_bytes)
    })
}

fn history_prepare(arguments: &HistoryPrepare) -> Result<ExitCode, Failed> {
    history::store::check(&arguments.target).map_err(Failed::Usage)?;
    prepare(|stop| history::store::prepare(&arguments.target, stop))
}

fn history(arguments: &History) -> Result<ExitCode, Failed> {
    history::store::check(&arguments.target).map_err(Failed::Usage)?;
    let targets = arguments.targets().map_err(Failed::Usage)?;
    let concern = arguments.read_concern().map_err(Failed::Usage)?;
    let create = |path: &Path| {
        File::create(path).map_err(|error| Failed::Usage(format!("create {}: {error}", path.display())))
    };
    let (lines, edn) = (create(&arguments.history)?, create(&arguments.edn)?);
    let servers = Servers::new(targets, arguments.reads, concern);
    let (plan, seed) = (arguments.plan(), arguments.run.seed);
    let shared = Arc::new(Shared::new(arguments.workload, arguments.keys, arguments.clients, servers, seed));
    let write = |outcome: &Outcome, stop: &Arc<Stop>| {
        last_reads::read_all(&shared, stop);
        let history = shared.log.since(outcome.started_ns - plan.warm_up_ns);
        crosswind_history::json::write(BufWriter::new(lines), &history)
            .and_then(|()| crosswind_history::edn::write(BufWriter::new(edn), arguments.workload, &history))
            .map_err(|error| Failed::Internal(format!("write the history: {error}")))
    };
    let connect = |number: usize, stop: &Arc<Stop>| history::client::Client::connect(&shared, number, stop);
    let stop = stopped(Stop::with_patience(arguments.run.patience()));
    if let (Some(replica), Some(after)) = (arguments.promote, arguments.promote_after) {
        let (shared, stop) = (Arc::clone(&shared), Arc::clone(&stop));
        let after = Duration::from_secs_f64(arguments.run.warm_up + after);
        // Not waited for: a run that ends sooner has no use for it.
        std::thread::spawn(move || shared.servers.promote(replica, after, &shared.log, &stop));
    }
    measure_and(&plan, arguments, &arguments.run, &stop, connect, write)
}

fn history_check(arguments: &HistoryCheck) -> Result<ExitCode, Failed> {
    signals::exit_on_signal();
    let named = |error: String| Failed::Usage(format!("{}: {error}", arguments.history.display()));
    let text = std::fs::read_to_string(&arguments.history).map_err(|error| named(error.to_string()))?;
    let events = crosswind_history::json::read(&text).map_err(named)?;
    let over = Instant::now() + Duration::from_secs_f64(arguments.time_limit);
    let checked = crosswind_history::verdict::check(arguments.workload, &events, &|| Instant::now() >= over)
        .map_err(named)?;
    println!("{}", serde_json::to_string(&checked).map_err(|error| Failed::Internal(error.to_string()))?);
    Ok(ExitCode::SUCCESS)
}

fn mongodb_command(arguments: &MongodbCommand) -> Result<ExitCode, Failed> {
    let stop = stopped_by_signals();
    println!("{}", store::mongodb::single::run(&arguments.server, &arguments.command, &stop)?);
    Ok(ExitCode::SUCCESS)
}

fn cassandra_command(arguments: &CassandraCommand) -> Result<ExitCode, Failed> {
    let stop = stopped_by_signals();
    let CassandraCommand { server, statement, consistency } = arguments;
    println!("rows {}", store::cassandra::single::run(server, statement, consistency, &stop)?);
    Ok(ExitCode::SUCCESS)
}

fn rpc_serve(arguments: &RpcServe) -> Result<ExitCode, Failed> {
    serve(rpc::server::start(&arguments.listen))
}

fn rpc(arguments: &Rpc) -> Result<ExitCode, Failed> {
    measure(&arguments.plan(), arguments, &arguments.run, |_, stop| {
        rpc::client::Caller::connect(
            &arguments.server,
            arguments.request_bytes,
            arguments.response_bytes,
            stop,
        )
    })
}

fn memcached_prepare(arguments: &MemcachedPrepare) -> Result<ExitCode, Failed> {
    prepare(|stop| memcached::prepare::prepare(&arguments.server, arguments.keys, arguments.seed, stop))
}

fn memcached(arguments: &Memcached) -> Result<ExitCode, Failed> {
    let mix = memcached::client::Mix::new(arguments.keys, arguments.set_share);
    measure(&arguments.plan(), arguments, &arguments.run, |number, stop| {
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

fn http(arguments: &Http) -> Result<ExitCode, Failed> {
    measure(&arguments.plan(), arguments, &arguments.run, |number, stop| {
        let (seed, object_bytes) = (arguments.run.seed, &arguments.object_bytes);
        http::client::Client::connect(&arguments.server, object_bytes, seed, number, stop)
    })
}

fn traffic_serve(arguments: &TrafficServe) -> Result<ExitCode, Failed> {
    serve(traffic::node::start(&arguments.listen, &arguments.control))
}

fn traffic(arguments: &Traffic) -> Result<ExitCode, Failed> {
    signals::exit_on_signal();
    let run = arguments.run().map_err(Failed::Usage)?;
    let complaint = traffic::coordinator::run(&run, arguments)?;
    if let Some(complaint) = &complaint {
        eprintln!("crosswind-load: {complaint}");
    }
    Ok(complaint.map_or(ExitCode::SUCCESS, |_| ExitCode::from(TOO_MANY_ERRORS)))
}

fn relay(arguments: &Relay) -> Result<ExitCode, Failed> {
    signals::exit_on_signal();
    let socket = match (&arguments.socket.listen, &arguments.socket.connect) {
        (Some(listen), _) => relay::listen(listen),
        (None, Some(connect)) => relay::connect(connect),
        (None, None) => unreachable!("one of them is required"),
    };
    let socket = socket.map_err(Failed::Unreachable)?;
    relay::run(socket, &arguments.from, std::io::stdout())
        .map_err(|error| Failed::Internal(format!("{}: {error}", arguments.from.display())))?;
    Ok(ExitCode::SUCCESS)
}

fn probe_send(arguments: &ProbeSend) -> Result<ExitCode, Failed> {
    probe::send(&arguments.to, &arguments.packets(), &stopped_by_signals())?;
    Ok(ExitCode::SUCCESS)
}

fn probe_receive(arguments: &ProbeReceive) -> Result<ExitCode, Failed> {
    probe::receive(&arguments.listen, arguments.count, &arguments.out, &stopped_by_signals())?;
    Ok(ExitCode::SUCCESS)
}

fn flood_send(arguments: &FloodSend) -> Result<ExitCode, Failed> {
    flood::send(&arguments.to, &arguments.packets(), &stopped_by_signals())?;
    Ok(ExitCode::SUCCESS)
}

fn flood_receive(arguments: &FloodReceive) -> Result<ExitCode, Failed> {
    let silence = Duration::from_secs_f64(arguments.silence);
    flood::receive(&arguments.listen, silence, &arguments.out, &stopped_by_signals())?;
    Ok(ExitCode::SUCCESS)
}

/// A request to stop that the first SIGTERM or SIGINT makes.
fn stopped_by_signals() -> Arc<Stop> {
    stopped(Stop::new())
}

fn stopped(stop: Stop) -> Arc<Stop> {
    let stop = Arc::new(stop);
    signals::stop_on_signal(&stop);
    stop
}

/// Prints where a server listens, which goes on in threads of its own until a signal ends the process.
fn serve(listening: Result<impl Display, String>) -> Result<ExitCode, Failed> {
    println!("listening {}", listening.map_err(Failed::Unreachable)?);
    signals::wait();
    Ok(ExitCode::SUCCESS)
}

/// Fills a server and says why that was not done, if it was not.
fn prepare(fill: impl FnOnce(&Arc<Stop>) -> Result<(), NotPrepared>) -> Result<ExitCode, Failed> {
    let stop = stopped_by_signals();
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
    let stop = stopped(Stop::with_patience(run.patience()));
    measure_and(plan, parameters, run, &stop, connect, |_, _| Ok(()))
}

/// Like [`measure`], and does something more after the load.
fn measure_and<S: Session>(
    plan: &Plan,
    parameters: &impl serde::Serialize,
    run: &RunArguments,
    stop: &Arc<Stop>,
    connect: impl Fn(usize, &Arc<Stop>) -> Result<S, String> + Sync,
    afterwards: impl FnOnce(&Outcome, &Arc<Stop>) -> Result<(), Failed>,
) -> Result<ExitCode, Failed> {
    let files = output::Files::create(&run.samples, &run.summary).map_err(Failed::Usage)?;
    let live = run.live.as_deref().map(|path| Live::create(path, plan.connections));
    let live = live.transpose().map_err(Failed::Usage)?;
    let offer = || driver::run(plan, stop, live.as_ref(), connect);
    let outcome = match &live {
        Some(live) => live.written_during(offer),
        None => offer(),
    };
    let outcome = outcome.map_err(Failed::Unreachable)?;
    afterwards(&outcome, stop)?;
    files.write(&outcome, parameters).map_err(Failed::Internal)?;
    if let Some(complaint) = outcome.complaint(run.error_share_max) {
        eprintln!("crosswind-load: {complaint}");
    }
    Ok(outcome.exit_code(run.error_share_max))
}
