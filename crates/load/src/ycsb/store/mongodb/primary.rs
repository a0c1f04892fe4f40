//! A session with the server that takes writes: the one that was named, or the primary of its replica set.
//!
//! An election moves that role while commands are under way. What the old primary refuses for that reason is sent again to
//! the new one, as MongoDB's drivers do, within the time that one operation may take; so an election is one slow operation
//! and no failed one. Each write carries the number of a transaction, by which a server knows that it has done it already.
//!
//! Source: MongoDB specifications, "Retryable Writes", "Retryable Reads", "Server Discovery and Monitoring".

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bson::raw::cstr;
use bson::spec::BinarySubtype;
use bson::{rawdoc, Binary, RawDocument, RawDocumentBuf, Uuid};

use super::connection::{Connection, Unserved};
use crate::clock::monotonic_ns;
use crate::failure::Failure;
use crate::stop::Stop;

/// Pause between two searches for the primary while there is none.
const LOOK_AGAIN_NS: u64 = 100_000_000;
/// Longest answer of a member to whether it is the primary; others may be it, and answer.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// A session with whichever server takes writes.
pub struct Primary {
    connection: Connection,
    /// The members of the replica set, as `host:port`; none for a server by itself.
    members: Vec<String>,
    session: Uuid,
    transactions: i64,
    timeout: Duration,
    stop: Arc<Stop>,
}

impl Primary {
    /// Connects to a server, or to the primary of the replica set that it belongs to.
    ///
    /// # Errors
    /// The server cannot be reached or speaks another protocol, or its set has no primary within the time of an operation.
    pub fn connect(server: &str, stop: &Arc<Stop>) -> Result<Primary, String> {
        let named = |error: String| format!("MongoDB at {server}: {error}");
        let mut connection = Connection::connect(server, stop)?;
        let hello = Hello::ask(&mut connection).map_err(named)?;
        let mut primary = Primary::new(connection, hello.members, stop);
        if !hello.takes_writes {
            if primary.members.is_empty() {
                return Err(named(
                    "it takes no writes and names no replica set; name the server that does".into(),
                ));
            }
            let give_up_ns = primary.give_up_ns();
            primary
                .look_for_primary("it is not the primary", give_up_ns)
                .map_err(|failure| named(failure.to_string()))?;
        }
        Ok(primary)
    }

    /// A session over a connection that is there, with a server of these members.
    pub(super) fn new(connection: Connection, members: Vec<String>, stop: &Arc<Stop>) -> Primary {
        let (session, timeout) = (Uuid::new(), stop.patience());
        Primary { connection, members, session, transactions: 0, timeout, stop: Arc::clone(stop) }
    }

    /// Our address and that of the server that takes writes now.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        self.connection.addresses()
    }

    /// Whether it looks for the primary of a replica set, also after it has given up once.
    pub fn is_of_a_set(&self) -> bool {
        !self.members.is_empty()
    }

    /// How many servers hold the data.
    pub fn servers(&self) -> usize {
        self.members.len().max(1)
    }

    /// Sets how long a command may take, the search for another primary included.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
        self.connection.set_timeout(timeout);
    }

    /// Runs a command that may be done twice without harm, such as a read.
    pub fn run(&mut self, command: &RawDocument) -> Result<RawDocumentBuf, Failure> {
        let give_up_ns = self.give_up_ns();
        loop {
            let why = match self.connection.run(command) {
                Ok(reply) => return Ok(reply),
                Err(Unserved::Failed(failure)) => return Err(failure),
                Err(Unserved::Lost(why)) if self.members.is_empty() => return Err(Failure::Lost(why)),
                Err(Unserved::Retryable(why)) if self.members.is_empty() => {
                    return Err(Failure::Refused(why))
                }
                Err(Unserved::Lost(why) | Unserved::Retryable(why)) => why,
            };
            self.look_for_primary(&why, give_up_ns)?;
        }
    }

    /// Runs a write of single documents, exactly once.
    pub fn write(&mut self, mut command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
        if !self.members.is_empty() {
            self.transactions += 1;
            let session = Binary { subtype: BinarySubtype::Uuid, bytes: self.session.bytes().to_vec() };
            command.append(cstr!("lsid"), rawdoc! { "id": session });
            command.append(cstr!("txnNumber"), self.transactions);
        }
        self.run(&command)
    }

    /// Sends a write that is not to be answered, and returns when the kernel has taken it.
    pub fn write_unanswered(&mut self, command: &RawDocument) -> Result<(), Failure> {
        let give_up_ns = self.give_up_ns();
        loop {
            match self.connection.run_unanswered(command) {
                // A server that is no longer the primary can only close the connection.
                Err(Unserved::Lost(why)) if !self.members.is_empty() => {
                    self.look_for_primary(&why, give_up_ns)?
                }
                done => return done.map_err(Failure::from),
            }
        }
    }

    fn give_up_ns(&self) -> u64 {
        monotonic_ns() + self.timeout.as_nanos() as u64
    }

    /// Takes the connection to the member that takes writes, as soon as there is one.
    fn look_for_primary(&mut self, why: &str, give_up_ns: u64) -> Result<(), Failure> {
        loop {
            if self.stop.reason().is_some() {
                return Err(Failure::Stopped);
            }
            // Before the search: a primary that takes commands and does not answer in time would be found again and again.
            if monotonic_ns() >= give_up_ns {
                return Err(Failure::Lost(format!(
                    "{why}; no answer of a primary among {} within {:?}",
                    self.members.join(", "),
                    self.timeout
                )));
            }
            if let Some(connection) = self.members.iter().find_map(|member| self.as_primary(member)) {
                self.connection = connection;
                return Ok(());
            }
            self.stop.sleep_until_ns(monotonic_ns() + LOOK_AGAIN_NS);
        }
    }

    /// Returns a connection to a member, if that member takes writes.
    fn as_primary(&self, member: &str) -> Option<Connection> {
        let mut connection = Connection::connect(member, &self.stop).ok()?;
        connection.set_timeout(HELLO_TIMEOUT.min(self.timeout));
        let is_primary = Hello::ask(&mut connection).ok()?.takes_writes;
        connection.set_timeout(self.timeout);
        is_primary.then_some(connection)
    }
}

/// What a server reports about itself.
struct Hello {
    takes_writes: bool,
    members: Vec<String>,
}

impl Hello {
    fn ask(connection: &mut Connection) -> Result<Hello, String> {
        let reply = connection
            .run(&rawdoc! { "hello": 1, "$db": "admin" })
            .map_err(|unserved| Failure::from(unserved).to_string())?;
        let hosts = reply.get_array("hosts").ok().into_iter().flatten();
        Ok(Hello {
            takes_writes: matches!(reply.get_bool("isWritablePrimary"), Ok(true)),
            members: hosts.filter_map(|host| Some(host.ok()?.as_str()?.to_string())).collect(),
        })
    }
}
