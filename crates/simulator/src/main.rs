//! `crosswind-simulate`: the virtual clock as a program. `crosswind simulate` is the command for users.
//!
//! ```text
//! crosswind-simulate replay FILE [--condition CONDITION.json] [--packets FILE.csv]
//! crosswind-simulate offer [--packets FILE.csv]       a plan (offer::Plan) as JSON on standard input
//! crosswind-simulate trials                           plans (trial::Plan) on standard input, one a line; an answer for each
//! crosswind-simulate capture FILE RTO_NS              TCP in a pcap or pcapng file; the shortest retransmission timeout
//! crosswind-simulate table                            a fabric and packets on standard input, what became of them on output
//! crosswind-simulate describe                         every element that a condition can name
//! crosswind-simulate describe --samples N [--seed S]  N random sets of parameters of each
//! ```
//!
//! `replay`, `offer`, `capture` and `describe` print one JSON object (docs/reference/contracts.md, section 7). It needs no privileges and reads no clock. Exit statuses: 0
//! done, 2 usage or invalid input.

use std::fs::File;
use std::io::{stdin, stdout, BufWriter, Write};
use std::process::ExitCode;

use crosswind_fabric::Condition;
use crosswind_recording::Reader;
use crosswind_simulator::trial::trial;
use crosswind_simulator::{capture, describe, offer, play, replay, PacketFile};

const USAGE: &str = "\
usage: crosswind-simulate replay FILE [--condition CONDITION.json] [--packets FILE.csv]
       crosswind-simulate offer [--packets FILE.csv]     (a plan as JSON on standard input)
       crosswind-simulate trials                         (plans as JSON on standard input, one a line)
       crosswind-simulate capture FILE RTO_NS
       crosswind-simulate table                          (a fabric and packets on standard input)
       crosswind-simulate describe [--samples N [--seed S]]
       crosswind-simulate --version";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["--version"] => {
            println!("crosswind-simulate {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        ["--help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["replay", file, options @ ..] => {
            Options::read(options).and_then(|options| replay_file(file, &options))
        }
        ["table"] => {
            let done = play(stdin().lock(), &mut BufWriter::new(stdout().lock()));
            return match done {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => refused(&error.to_string()),
            };
        }
        ["describe"] => to_json(&describe::descriptions()),
        ["describe", "--samples", number] => samples(number, "0"),
        ["describe", "--samples", number, "--seed", seed] => samples(number, seed),
        ["capture", file, rto_ns] => read_capture(file, rto_ns),
        ["trials"] => {
            return match trials() {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => refused(&error),
            };
        }
        ["offer", options @ ..] => Options::read(options).and_then(|options| offer_plan(&options)),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(error) => refused(&error),
    }
}

fn refused(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::from(2)
}

/// What may stand behind the command.
#[derive(Default)]
struct Options {
    condition: Option<String>,
    packets: Option<String>,
}

impl Options {
    fn read(mut words: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        while let [word, value, rest @ ..] = words {
            let option = match *word {
                "--condition" => &mut options.condition,
                "--packets" => &mut options.packets,
                other => return Err(format!("{other}: no such option\n{USAGE}")),
            };
            *option = Some((*value).to_owned());
            words = rest;
        }
        match words {
            [] => Ok(options),
            _ => Err(format!("{}: has no value\n{USAGE}", words[0])),
        }
    }

    fn packet_file(&self) -> Result<Option<PacketFile<BufWriter<File>>>, String> {
        self.packets
            .as_ref()
            .map(|path| {
                let file = File::create(path).and_then(|file| PacketFile::new(BufWriter::new(file)));
                file.map_err(|error| format!("{path}: {error}"))
            })
            .transpose()
    }
}

fn replay_file(file: &str, options: &Options) -> Result<String, String> {
    let input = File::open(file).map_err(|error| format!("{file}: {error}"))?;
    let reader = Reader::open(input).map_err(|error| format!("{file}: {error}"))?;
    let what_if: Option<Condition> = options.condition.as_ref().map(|path| read_json(path)).transpose()?;
    let replayed = replay(reader, what_if.as_ref(), options.packet_file()?);
    to_json(&replayed.map_err(|error| format!("{file}: {error}"))?)
}

fn read_capture(file: &str, rto_ns: &str) -> Result<String, String> {
    let rto_ns = rto_ns.parse().map_err(|_| format!("{rto_ns}: is no number of nanoseconds\n{USAGE}"))?;
    let input = File::open(file).map_err(|error| format!("{file}: {error}"))?;
    to_json(&capture(input, rto_ns).map_err(|error| format!("{file}: {error}"))?)
}

fn samples(number: &str, seed: &str) -> Result<String, String> {
    let whole = |text: &str| text.parse().map_err(|_| format!("{text}: is no whole number\n{USAGE}"));
    to_json(&describe::samples(whole(number)?, whole(seed)?))
}

fn offer_plan(options: &Options) -> Result<String, String> {
    if options.condition.is_some() {
        return Err(format!("offer: the plan has the condition\n{USAGE}"));
    }
    let plan = serde_json::from_reader(stdin().lock()).map_err(|error| format!("plan: {error}"))?;
    to_json(&offer::offer(&plan, options.packet_file()?).map_err(|error| error.to_string())?)
}

/// A plan on each line of the input, an answer on each line of the output: what was measured, or why nothing was.
fn trials() -> Result<(), String> {
    let mut output = stdout().lock();
    for line in stdin().lines() {
        let plan = serde_json::from_str(&line.map_err(|error| format!("plans: {error}"))?);
        let outcome = plan.map_err(|error| format!("plan: {error}")).and_then(|plan| trial(&plan));
        let answer = match outcome {
            Ok(outcome) => to_json(&outcome)?,
            Err(refused) => to_json(&serde_json::json!({ "refused": refused }))?,
        };
        writeln!(output, "{answer}")
            .and_then(|()| output.flush())
            .map_err(|error| format!("answers: {error}"))?;
    }
    Ok(())
}

fn read_json<T: serde::de::DeserializeOwned>(path: &str) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))
}

fn to_json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
