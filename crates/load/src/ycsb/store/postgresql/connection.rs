//! A session with a PostgreSQL server over a blocking socket: start-up, simple and prepared statements, COPY.
//!
//! Messages are made and read by `postgres-protocol`; what is left is to send, receive, and know when an answer ends.
//! The `postgres` and `tokio-postgres` drivers are not used because each puts an asynchronous runtime between the socket
//! and the clock (see `lib.rs`), and hides the socket, and so our address.
//!
//! No passwords and no TLS: a server under test lives in a network of its own and trusts it.
//!
//! Source: PostgreSQL documentation, "Frontend/Backend Protocol", version 3.0.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use postgres_protocol::IsNull;

use crate::failure::Failure;
use crate::stop::Stop;
use crate::stream::{connect_timeout, Stream};
use crate::ycsb::store::target::Target;

const RECEIVE_BYTES: usize = 64 << 10; // a scan of 100 records is 110 kB

/// The end of a statement that the server carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Rows selected, inserted or updated.
    pub rows: u64,
}

/// A session.
pub struct Connection {
    stream: Stream,
    to_send: BytesMut,
    received: BytesMut,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects and starts a session.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Connection, String> {
        let server = &target.server;
        let (user, database) = account(target)?;
        let mut connection = Connection {
            stream: Stream::connect(server, stop)?,
            to_send: BytesMut::new(),
            received: BytesMut::new(),
            buffer: vec![0; RECEIVE_BYTES],
        };
        connection.stream.set_timeout(connect_timeout(stop));
        connection.start_session(user, database).map_err(|failure| {
            format!("PostgreSQL at {server}, user {user}, database {database}: {failure}")
        })?;
        connection.stream.set_timeout(stop.patience());
        Ok(connection)
    }

    fn start_session(&mut self, user: &str, database: &str) -> Result<(), Failure> {
        let parameters = [
            ("user", user),
            ("database", database),
            ("application_name", "crosswind-load"),
            ("client_encoding", "UTF8"),
        ];
        encoded(frontend::startup_message(parameters, &mut self.to_send))?;
        self.exchange().map(|_| ())
    }

    /// Our address and the server's.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        self.stream.addresses()
    }

    /// Sets how long one statement may take.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.stream.set_timeout(timeout);
    }

    /// Makes a prepared statement; the server derives the types of its parameters.
    pub fn prepare(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        encoded(frontend::parse(name, text, [], &mut self.to_send))?;
        frontend::sync(&mut self.to_send);
        self.exchange().map(|_| ())
    }

    /// Runs a prepared statement with parameters in text form, and takes all rows.
    pub fn run(&mut self, statement: &str, parameters: &[&[u8]]) -> Result<Done, Failure> {
        self.select(statement, parameters, |_| {})
    }

    /// Runs a prepared statement with parameters in text form, and hands over the first value of each row, in text form.
    pub fn select(
        &mut self,
        statement: &str,
        parameters: &[&[u8]],
        mut take: impl FnMut(Option<&[u8]>),
    ) -> Result<Done, Failure> {
        let write_parameter = |parameter: &&[u8], buffer: &mut BytesMut| {
            buffer.extend_from_slice(parameter);
            Ok(IsNull::No)
        };
        frontend::bind("", statement, [], parameters, write_parameter, [], &mut self.to_send).map_err(
            |_| Failure::Refused(format!("{statement}: a parameter is too long for the protocol")),
        )?;
        encoded(frontend::execute("", 0, &mut self.to_send))?;
        frontend::sync(&mut self.to_send);
        self.stream.begin();
        self.flush()?;
        self.until_ready(None, &mut take)
    }

    /// Runs a statement without parameters, as text.
    pub fn simple(&mut self, text: &str) -> Result<Done, Failure> {
        encoded(frontend::query(text, &mut self.to_send))?;
        self.exchange()
    }

    /// Runs `COPY ... FROM STDIN` with the data that the parts make up.
    pub fn copy_in(&mut self, text: &str, parts: impl Iterator<Item = Vec<u8>>) -> Result<Done, Failure> {
        encoded(frontend::query(text, &mut self.to_send))?;
        self.stream.begin();
        self.flush()?;
        loop {
            match self.message()? {
                Message::CopyInResponse(_) => break,
                Message::ErrorResponse(body) => return self.until_ready(Some(sentence(&body)), &mut |_| {}),
                _ => {}
            }
        }
        // A server that gives up in the middle goes on reading until the end, so this never waits for both.
        for part in parts {
            encoded(frontend::CopyData::new(part.as_slice()).map(|data| data.write(&mut self.to_send)))?;
            self.flush()?;
        }
        frontend::copy_done(&mut self.to_send);
        self.flush()?;
        self.until_ready(None, &mut |_| {})
    }

    fn exchange(&mut self) -> Result<Done, Failure> {
        self.stream.begin();
        self.flush()?;
        self.until_ready(None, &mut |_| {})
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let sent = self.stream.send(&self.to_send);
        self.to_send.clear();
        sent
    }

    /// Takes messages until the server is ready for the next statement.
    fn until_ready(
        &mut self,
        mut refusal: Option<String>,
        take: &mut dyn FnMut(Option<&[u8]>),
    ) -> Result<Done, Failure> {
        let mut rows = 0;
        loop {
            let message = match self.message() {
                Ok(message) => message,
                // The server says why before it closes; "closed" alone would say less.
                Err(Failure::Lost(why)) => return Err(Failure::Lost(refusal.unwrap_or(why))),
                Err(failure) => return Err(failure),
            };
            match message {
                Message::ReadyForQuery(_) => return refusal.map_or(Ok(Done { rows }), |why| Err(Failure::Refused(why))),
                Message::ErrorResponse(body) => refusal = Some(sentence(&body)),
                Message::DataRow(body) => {
                    let first = body.ranges().next().ok().flatten().flatten();
                    take(first.map(|range| &body.buffer()[range]));
                }
                Message::CommandComplete(body) => rows = rows_of(body.tag().unwrap_or_default()),
                Message::AuthenticationCleartextPassword
                | Message::AuthenticationMd5Password(_)
                | Message::AuthenticationSasl(_)
                | Message::AuthenticationGss
                | Message::AuthenticationSspi => {
                    return Err(Failure::Lost(
                        "the server asks for a password and there is none to give; allow this address with the method trust in its pg_hba.conf".into(),
                    ))
                }
                _ => {}
            }
        }
    }

    fn message(&mut self) -> Result<Message, Failure> {
        loop {
            let parsed = Message::parse(&mut self.received);
            match parsed.map_err(|error| Failure::Lost(format!("{error}; is the server a PostgreSQL?")))? {
                Some(message) => return Ok(message),
                None => {
                    let count = self.stream.receive(&mut self.buffer)?;
                    self.received.extend_from_slice(&self.buffer[..count]);
                }
            }
        }
    }
}

/// The account and the database, which the command line has made sure of.
fn account(target: &Target) -> Result<(&str, &str), String> {
    match (&target.user, &target.database) {
        (Some(user), Some(database)) => Ok((user, database)),
        _ => Err("PostgreSQL needs --user and --database".into()),
    }
}

/// Encoding fails only for names with a zero byte in them and for gigabytes.
fn encoded(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| Failure::Refused(format!("cannot be sent: {error}")))
}

/// The rows that a command's tag speaks of: `SELECT 7`, `UPDATE 1`, `INSERT 0 1`, or none as in `COMMIT`.
fn rows_of(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The server's message with its code.
fn sentence(body: &ErrorResponseBody) -> String {
    let (mut code, mut message) = (String::new(), String::new());
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => code = text,
            b'M' => message = text,
            _ => {}
        }
    }
    format!("{message} (SQLSTATE {code})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_command_are_the_last_number_of_its_tag() {
        assert_eq!(["SELECT 7", "UPDATE 0", "INSERT 0 1", "COMMIT"].map(rows_of), [7, 0, 1, 0]);
    }
}
