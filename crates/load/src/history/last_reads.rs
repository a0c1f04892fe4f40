//! The reads of all keys after the load: what was written last would otherwise be seen by nobody.

use std::sync::Arc;
use std::time::Duration;

use crosswind_history::event::{Function, Type, Value};

use super::client::Shared;
use super::log::Of;
use super::store::{Outcome, Request, Store};
use crate::clock::monotonic_ns;
use crate::stop::Stop;

/// How long all of them together are tried again; after it, keys may have no last read.
const LONGEST: Duration = Duration::from_secs(20);
/// Pause before a read is tried again.
const PAUSE_NS: u64 = 100_000_000;

/// Reads every key once, from a server that takes writes.
pub fn read_all(shared: &Shared, stop: &Arc<Stop>) {
    let give_up_ns = monotonic_ns() + LONGEST.as_nanos() as u64;
    let mut process = shared.clients as u64;
    let mut connection: Option<Box<dyn Store>> = None;
    let mut tries = 0;
    for key in 0..shared.keys {
        while monotonic_ns() < give_up_ns && stop.reason().is_none() {
            // Of a store whose every member takes writes, another one is tried each time.
            let server = shared.servers.of(tries, true);
            tries += usize::from(connection.is_none());
            let Some(store) = connection.as_mut() else {
                connection = shared.servers.connect(server, stop).ok();
                if connection.is_none() {
                    stop.sleep_until_ns(monotonic_ns() + PAUSE_NS);
                }
                continue;
            };
            let of = Of { process, function: Function::Read, key };
            shared.log.begin(of, Value::Nothing);
            let outcome = store.perform(shared.workload, key, &Request::Read);
            if outcome.is_unknown() {
                process += shared.process_step();
            }
            match outcome {
                Outcome::Done(value) => {
                    shared.log.end(of, Type::Ok, value, None);
                    break;
                }
                Outcome::Refused(why) => shared.log.end(of, Type::Fail, Value::Nothing, Some(why)),
                Outcome::Unknown(why) | Outcome::Lost(why) => {
                    shared.log.end(of, Type::Info, Value::Nothing, Some(why));
                }
                Outcome::OtherValue | Outcome::Stopped => {
                    shared.log.end(of, Type::Info, Value::Nothing, Some("the run was stopped".into()));
                }
            }
            connection = None;
            stop.sleep_until_ns(monotonic_ns() + PAUSE_NS);
        }
    }
}
