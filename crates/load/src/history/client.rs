//! One client: chooses operations, performs them, and logs what it saw.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crosswind_history::event::{Function, Type, Value, Workload};

use super::log::{Log, Of};
use super::servers::Servers;
use super::store::{Outcome, Request, Store};
use crate::clock::monotonic_ns;
use crate::driver::Session;
use crate::failure::Failure;
use crate::random::{Purpose, Random};
use crate::sample::Operation;
use crate::stop::Stop;

/// Pause after an operation that could not be sent or was refused: a client in front of a closed door would otherwise do nothing
/// else.
const PAUSE_NS: u64 = 50_000_000;

/// How long the first connection is tried.
const FIRST_CONNECTION: Duration = Duration::from_secs(10);

/// What all clients of a run share.
pub struct Shared {
    pub workload: Workload,
    pub keys: u64,
    pub clients: usize,
    pub servers: Servers,
    pub log: Log,
    pub seed: u64,
    /// The value that is written next.
    next_value: AtomicI64,
}

impl Shared {
    /// Nothing has been done yet.
    pub fn new(workload: Workload, keys: u64, clients: usize, servers: Servers, seed: u64) -> Shared {
        Shared { workload, keys, clients, servers, log: Log::default(), seed, next_value: AtomicI64::new(1) }
    }

    /// By how much a client's process number grows. One number above those of the clients is for the last reads.
    pub fn process_step(&self) -> u64 {
        self.clients as u64 + 1
    }
}

/// A client of a store.
pub struct Client {
    shared: Arc<Shared>,
    stop: Arc<Stop>,
    number: usize,
    process: u64,
    /// By server; only those that are in use.
    connections: HashMap<usize, Box<dyn Store>>,
    addresses: (SocketAddr, SocketAddr),
    random: Random,
    /// The value that this client saw last, by key.
    seen: HashMap<u64, i64>,
    chosen: (u64, Request),
}

impl Client {
    /// Connects to the servers that the client of this number uses.
    pub fn connect(shared: &Arc<Shared>, number: usize, stop: &Arc<Stop>) -> Result<Client, String> {
        let mut connections = HashMap::new();
        let first = shared.servers.of(number, true);
        for server in [first, shared.servers.of(number, false)] {
            if let std::collections::hash_map::Entry::Vacant(place) = connections.entry(server) {
                place.insert(first_connection(shared, server, stop)?);
            }
        }
        let addresses = connections[&first].addresses().map_err(|error| error.to_string())?;
        Ok(Client {
            shared: Arc::clone(shared),
            stop: Arc::clone(stop),
            number,
            process: number as u64,
            connections,
            addresses,
            random: Random::stream(shared.seed, Purpose::Connection, number as u64),
            seen: HashMap::new(),
            chosen: (0, Request::Read),
        })
    }

    fn fresh(&self) -> i64 {
        self.shared.next_value.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends what was chosen; `Outcome::Refused` if it could not be sent.
    fn send(&mut self, key: u64, request: &Request) -> Outcome {
        let server = self.shared.servers.of(self.number, *request != Request::Read);
        if !self.connections.contains_key(&server) {
            match self.shared.servers.connect(server, &self.stop) {
                Ok(connection) => drop(self.connections.insert(server, connection)),
                Err(_) if self.stop.reason().is_some() => return Outcome::Stopped,
                Err(why) => return Outcome::Refused(why),
            }
        }
        let Some(connection) = self.connections.get_mut(&server) else {
            return Outcome::Refused("no connection".into());
        };
        let outcome = connection.perform(self.shared.workload, key, request);
        if matches!(outcome, Outcome::Lost(_) | Outcome::Stopped) {
            self.connections.remove(&server);
        }
        outcome
    }

    fn pause(&self) {
        let until_ns = monotonic_ns() + PAUSE_NS;
        while monotonic_ns() < until_ns && self.stop.reason().is_none() {
            self.stop.sleep_until_ns(until_ns);
        }
    }
}

impl Session for Client {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        Ok(self.addresses)
    }

    fn choose(&mut self) -> Operation {
        let key = self.random.below(self.shared.keys);
        let share = self.random.below(100);
        let request = match self.shared.workload {
            Workload::Register if share < 50 => Request::Read,
            Workload::Register if share < 70 => match self.seen.get(&key) {
                Some(&from) => Request::Cas(from, self.fresh()),
                None => Request::Write(self.fresh()),
            },
            Workload::Register => Request::Write(self.fresh()),
            Workload::Set if share < 20 => Request::Read,
            Workload::Set => Request::Add(self.fresh()),
            Workload::Append if share < 30 => Request::Read,
            Workload::Append => Request::Append(self.fresh()),
        };
        let operation = match request {
            Request::Read => Operation::Read,
            Request::Write(_) => Operation::Write,
            Request::Cas(..) => Operation::CompareAndSet,
            Request::Add(_) => Operation::Add,
            Request::Append(_) => Operation::Append,
        };
        self.chosen = (key, request);
        operation
    }

    /// A lost connection is a refusal to the driver: the client goes on.
    fn perform(&mut self) -> Result<(), Failure> {
        let (key, request) = self.chosen;
        let (function, written) = written(&request);
        let of = Of { process: self.process, function, key };
        self.shared.log.begin(of, written.clone());
        let outcome = self.send(key, &request);
        if outcome.is_unknown() {
            self.process += self.shared.process_step();
        }
        let log = &self.shared.log;
        match outcome {
            Outcome::Done(read) => {
                let value = if request == Request::Read { read } else { written };
                match (&value, request) {
                    (_, Request::Cas(_, value)) => drop(self.seen.insert(key, value)),
                    (Value::One(value), _) => drop(self.seen.insert(key, *value)),
                    _ => {}
                }
                log.end(of, Type::Ok, value, None);
                Ok(())
            }
            Outcome::OtherValue => {
                self.seen.remove(&key);
                log.end(of, Type::Fail, written, Some("another value was there".into()));
                Ok(())
            }
            Outcome::Refused(why) => {
                log.end(of, Type::Fail, written, Some(why.clone()));
                self.pause();
                Err(Failure::Refused(why))
            }
            Outcome::Unknown(why) | Outcome::Lost(why) => {
                log.end(of, Type::Info, written, Some(why.clone()));
                Err(Failure::Refused(why))
            }
            Outcome::Stopped => {
                log.end(of, Type::Info, written, Some("the run was stopped".into()));
                Err(Failure::Stopped)
            }
        }
    }
}

/// Connects before the run; a standby may need a moment for what has just been made on the primary.
fn first_connection(shared: &Shared, server: usize, stop: &Arc<Stop>) -> Result<Box<dyn Store>, String> {
    let give_up_ns = monotonic_ns() + FIRST_CONNECTION.as_nanos() as u64;
    loop {
        match shared.servers.connect(server, stop) {
            Err(_) if monotonic_ns() < give_up_ns && stop.reason().is_none() => {
                stop.sleep_until_ns(monotonic_ns() + PAUSE_NS);
            }
            done => return done,
        }
    }
}

/// The function of a request, and what it writes.
pub fn written(request: &Request) -> (Function, Value) {
    match *request {
        Request::Read => (Function::Read, Value::Nothing),
        Request::Write(value) => (Function::Write, Value::One(value)),
        Request::Cas(from, to) => (Function::Cas, Value::Many(vec![from, to])),
        Request::Add(element) => (Function::Add, Value::One(element)),
        Request::Append(element) => (Function::Append, Value::One(element)),
    }
}
