//! What arguments mean to the parts of the program, none of which knows the command line.

use super::{
    ArrivalsArgument, FloodSend, History, Http, Memcached, ProbeSend, Rpc, RunArguments, Traffic, Ycsb,
};
use crate::arrivals::ArrivalProcess;
use crate::flood;
use crate::history::servers::Reads;
use crate::history::store::mongodb::ReadConcern;
use crate::plan::{Pace, Plan, Quota};
use crate::probe;
use crate::traffic::control::{Answer, Exchange, Load};
use crate::traffic::coordinator::Run;
use crate::ycsb::store::target::{Kind, Target};

impl Ycsb {
    /// The plan of the run.
    ///
    /// # Errors
    /// When nothing would end it.
    pub fn plan(&self) -> Result<Plan, String> {
        if self.operations.is_none() && self.duration.is_none() {
            return Err(
                "neither --operations nor --duration is given, so the run would never end; give one".into()
            );
        }
        Ok(self.run.plan(self.clients, self.duration, self.operations))
    }

    /// Number of the first key to insert.
    ///
    /// # Errors
    /// When a loaded record has that key.
    pub fn insert_start(&self) -> Result<u64, String> {
        let insert_start = self.insert_start.unwrap_or(self.records);
        if insert_start < self.records {
            return Err(format!(
                "--insert-start {insert_start}: the keys below --records {} are taken; give at least that",
                self.records
            ));
        }
        Ok(insert_start)
    }
}

impl History {
    /// The plan of the run.
    pub fn plan(&self) -> Plan {
        self.run.plan(self.clients, Some(self.duration), None)
    }

    /// What a read may return.
    ///
    /// # Errors
    /// When the store has no read concern, or the servers that are read do not have this one.
    pub fn read_concern(&self) -> Result<ReadConcern, String> {
        let concern = self.read_concern.unwrap_or(ReadConcern::Local);
        if self.read_concern.is_some() && self.target.store != Kind::Mongodb {
            return Err("--read-concern is for mongodb; leave it out".into());
        }
        if concern == ReadConcern::Linearizable && self.reads == Reads::Any {
            return Err("--read-concern linearizable: only the primary has it; write --reads primary".into());
        }
        Ok(concern)
    }

    /// All servers, the primary first.
    ///
    /// # Errors
    /// When the one to promote is not among them, or is to be promoted after the end.
    pub fn targets(&self) -> Result<Vec<Target>, String> {
        if let Some(promoted) = self.promote.filter(|&number| number == 0 || number > self.replicas.len()) {
            return Err(format!(
                "--promote {promoted}: there are {} --replicas; the first is 1",
                self.replicas.len()
            ));
        }
        if self.promote_after.is_some_and(|after| after >= self.duration) {
            return Err(format!("--promote-after must be less than --duration {}", self.duration));
        }
        let others =
            self.replicas.iter().map(|server| Target { server: server.clone(), ..self.target.clone() });
        Ok(std::iter::once(self.target.clone()).chain(others).collect())
    }
}

impl Memcached {
    /// The plan of the run.
    pub fn plan(&self) -> Plan {
        self.run.plan(self.connections, Some(self.duration), None)
    }
}

impl Http {
    /// The plan of the run.
    pub fn plan(&self) -> Plan {
        self.run.plan(self.connections, Some(self.duration), None)
    }
}

impl Rpc {
    /// The plan of the run.
    pub fn plan(&self) -> Plan {
        self.run.plan(self.connections, Some(self.duration), None)
    }
}

impl Traffic {
    /// What the run is to do.
    ///
    /// # Errors
    /// When nothing would end it, or when it mixes options of streams and of messages.
    pub fn run(&self) -> Result<Run<'_>, String> {
        if let Some(clock) = self.clock.iter().find(|clock| self.node.iter().all(|it| it.name != clock.name))
        {
            return Err(format!("--clock {}: there is no such --node", clock.name));
        }
        Ok(Run {
            nodes: &self.node,
            clocks: &self.clock,
            pattern: self.pattern,
            connections: self.connections,
            congestion_control: &self.congestion_control,
            load: self.load()?,
            samples: &self.samples,
            summary: &self.summary,
            error_share_max: self.error_share_max,
        })
    }

    fn load(&self) -> Result<Load, String> {
        if self.duration.is_none() && self.count.is_none() {
            return Err(
                "neither --count nor --duration is given, so the run would never end; give one".into()
            );
        }
        let exchange = match (self.size, self.answer) {
            (None, Some(_)) => {
                return Err("--answer without --size: no messages are sent; give --size too".into())
            }
            (None, None) if self.count.is_some() || self.rate.is_some() => {
                return Err("--count and --rate apply to messages; give --size too".into());
            }
            (None, None) => Exchange::Stream { write_bytes: self.write_bytes as usize },
            (Some(_), _) if self.progress.is_some() => {
                return Err("--progress applies to streams without end; leave out --size".into());
            }
            (Some(size), answer) => Exchange::Messages { size, answer: answer.unwrap_or(Answer::Receipt) },
        };
        Ok(Load {
            exchange,
            warm_up_ns: nanoseconds(self.warm_up),
            duration_ns: self.duration.map(nanoseconds),
            count: self.count,
            rate_per_s: self.rate,
            part_ns: nanoseconds(self.part),
            progress_ns: self.progress.map(nanoseconds),
            seed: self.seed,
        })
    }
}

impl ProbeSend {
    /// The packets to send.
    pub fn packets(&self) -> probe::Packets {
        probe::Packets {
            rate_per_s: self.rate,
            count: self.count,
            payload_bytes: self.payload_bytes,
            gaps: self.gaps,
        }
    }
}

impl FloodSend {
    /// The packets to send.
    pub fn packets(&self) -> flood::Packets {
        flood::Packets {
            rate_bps: self.rate_bps,
            payload_bytes: self.payload_bytes,
            train: self.train,
            duration_s: self.duration,
        }
    }
}

impl RunArguments {
    fn plan(&self, connections: usize, duration_s: Option<f64>, operations: Option<u64>) -> Plan {
        let process = match self.arrivals {
            ArrivalsArgument::Even => ArrivalProcess::Even,
            ArrivalsArgument::Poisson => ArrivalProcess::Poisson { seed: self.seed },
        };
        Plan {
            connections,
            pace: self.rate.map_or(Pace::Closed, |rate_per_s| Pace::Open { rate_per_s, process }),
            warm_up_ns: nanoseconds(self.warm_up),
            duration_ns: duration_s.map(nanoseconds),
            operations: operations.map(Quota::Together),
            connects_again: self.outlive.is_some(),
        }
    }
}

/// Whole nanoseconds of a time in seconds.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Arguments, Command};
    use super::*;

    /// The plan of `ycsb` with these words and those that it always needs.
    fn plan(words: &str) -> Result<Plan, String> {
        let needed = "crosswind-load ycsb --store redis --server a:1 --workload a --records 9 --clients 3 \
                      --seed 7 --samples s --summary t";
        let arguments = Arguments::try_parse_from(needed.split(' ').chain(words.split_whitespace()));
        let Ok(Arguments { command: Command::Ycsb(ycsb) }) = arguments else { panic!("{words}: not read") };
        ycsb.plan()
    }

    #[test]
    fn a_plan_is_what_the_words_say() {
        let closed = plan("--operations 5 --warm-up 0.5").unwrap();
        assert_eq!((closed.connections, closed.pace, closed.warm_up_ns), (3, Pace::Closed, 500_000_000));
        assert_eq!((closed.duration_ns, closed.operations), (None, Some(Quota::Together(5))));
        let open = plan("--duration 2 --rate 100 --arrivals poisson").unwrap();
        assert_eq!(open.pace, Pace::Open { rate_per_s: 100.0, process: ArrivalProcess::Poisson { seed: 7 } });
        assert_eq!((open.duration_ns, open.operations), (Some(2_000_000_000), None));
        assert!(!open.connects_again && plan("--duration 2 --outlive 5").unwrap().connects_again);
    }

    #[test]
    fn a_read_concern_is_for_mongodb_and_linearizable_for_its_primary() {
        let concern = |words: &str| {
            let needed =
                "crosswind-load history --server a:1 --workload set --keys 1 --clients 1 --duration 1 \
                          --history h --edn e --seed 7 --samples s --summary t";
            let arguments = Arguments::try_parse_from(needed.split(' ').chain(words.split_whitespace()));
            let Ok(Arguments { command: Command::History(history) }) = arguments else {
                panic!("{words}: not read")
            };
            history.read_concern()
        };
        assert_eq!(concern("--store redis"), Ok(ReadConcern::Local));
        assert_eq!(concern("--store mongodb --read-concern majority --reads any"), Ok(ReadConcern::Majority));
        assert!(concern("--store redis --read-concern local").unwrap_err().contains("for mongodb"));
        let any = concern("--store mongodb --read-concern linearizable --reads any");
        assert!(any.unwrap_err().contains("--reads primary"));
    }

    #[test]
    fn a_run_that_nothing_ends_is_refused_with_what_to_give() {
        assert!(plan("").unwrap_err().contains("give one"));
    }
}
