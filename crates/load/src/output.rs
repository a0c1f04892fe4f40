//! The two files of a run: every operation as CSV, and a summary as JSON (contracts.md, section 4).
//!
//! Both are created before the load starts, so that a path that cannot be written costs no measurement.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use crate::driver::{Connection, EndedBy, Outcome};
use crate::stop::StopReason;

const BUFFER_BYTES: usize = 1 << 20;

/// The files, open and empty.
pub struct Files {
    samples: File,
    summary: File,
}

impl Files {
    /// Creates both files, replacing what was there.
    pub fn create(samples: &Path, summary: &Path) -> Result<Files, String> {
        let create = |path: &Path| {
            File::create(path).map_err(|error| {
                format!("create {}: {error}; name a file in a folder that is there", path.display())
            })
        };
        Ok(Files { samples: create(samples)?, summary: create(summary)? })
    }

    /// Writes the result of a run.
    pub fn write(self, outcome: &Outcome, parameters: &impl Serialize) -> Result<(), String> {
        write_samples(BufWriter::with_capacity(BUFFER_BYTES, self.samples), &outcome.connections)
            .map_err(|error| format!("write the samples: {error}"))?;
        let mut summary = BufWriter::new(self.summary);
        serde_json::to_writer_pretty(&mut summary, &Summary::of(outcome, parameters))
            .map_err(io::Error::from)
            .and_then(|()| writeln!(summary))
            .and_then(|()| summary.flush())
            .map_err(|error| format!("write the summary: {error}"))
    }
}

/// The first line of a file of samples.
pub const HEADER: &str = "operation,connection,intended_ns,started_ns,finished_ns,ok,measured";

fn write_samples(mut file: impl Write, connections: &[Connection]) -> io::Result<()> {
    writeln!(file, "{HEADER}")?;
    write_rows(&mut file, 0, connections)?;
    file.flush()
}

/// Writes the samples of connections that are numbered from `first`.
pub fn write_rows(file: &mut impl Write, first: usize, connections: &[Connection]) -> io::Result<()> {
    for (number, connection) in (first..).zip(connections) {
        for row in connection.samples.iter() {
            writeln!(
                file,
                "{},{number},{},{},{},{},{}",
                row.operation.name(),
                row.intended_ns,
                row.started_ns,
                row.finished_ns,
                u8::from(row.ok),
                u8::from(row.measured)
            )?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Summary<'a, P> {
    tool: &'static str,
    version: &'static str,
    parameters: &'a P,
    started_ns: u64,
    finished_ns: u64,
    operations: u64,
    errors: u64,
    payload_bytes: u64,
    first_error: Option<&'a str>,
    not_started: u64,
    ended_by: &'static str,
    connections: Vec<ConnectionSummary>,
}

#[derive(Serialize)]
struct ConnectionSummary {
    connection: usize,
    local: String,
    remote: String,
    lost: bool,
}

impl<'a, P> Summary<'a, P> {
    fn of(outcome: &'a Outcome, parameters: &'a P) -> Self {
        Summary {
            tool: "crosswind-load",
            version: env!("CARGO_PKG_VERSION"),
            parameters,
            started_ns: outcome.started_ns,
            finished_ns: outcome.finished_ns,
            operations: outcome.operations,
            errors: outcome.errors,
            payload_bytes: outcome.payload_bytes,
            first_error: outcome.first_error.as_deref(),
            not_started: outcome.not_started,
            ended_by: match outcome.ended_by {
                EndedBy::Plan => "plan",
                EndedBy::ConnectionsLost => "connections-lost",
                EndedBy::Stop(StopReason::Signal(_)) => "signal",
                EndedBy::Stop(StopReason::SamplesFull) => "samples-full",
            },
            connections: outcome
                .connections
                .iter()
                .enumerate()
                .flat_map(|(connection, one)| {
                    let locals = std::iter::once(&one.local).chain(&one.later);
                    locals.map(move |local| ConnectionSummary {
                        connection,
                        local: local.to_string(),
                        remote: one.remote.to_string(),
                        lost: one.lost,
                    })
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Operation, Sample, Samples};

    #[test]
    fn a_sample_is_one_row_of_the_contract() {
        let mut samples = Samples::with_room_for(10);
        samples.add(Sample {
            operation: Operation::Call,
            intended_ns: 1,
            started_ns: 2,
            finished_ns: 3,
            payload_bytes: 0,
            ok: true,
            measured: false,
        });
        let address = "127.0.0.1:1".parse().unwrap();
        let connections =
            [Connection { local: address, later: vec![], remote: address, lost: false, samples }];
        let mut text = Vec::new();
        write_samples(&mut text, &connections).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "operation,connection,intended_ns,started_ns,finished_ns,ok,measured\ncall,0,1,2,3,1,0\n"
        );
    }
}
