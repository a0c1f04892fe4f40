//! `crosswind-agent`: the only part of Crosswind with privileges. It owns everything that Crosswind makes on a host.
//!
//! Without arguments it serves requests, JSON lines on its standard streams (docs/reference/contracts.md, section 2).
//! It builds nodes, runs the emulator between them and processes in them. It undoes everything when its input ends, on
//! SIGTERM, SIGINT or SIGHUP, or when its lease runs out. It is controlled over these streams alone; only for packets of
//! other machines does it open a socket, on request. It makes nothing that has a name in the host's namespaces, so even
//! `kill -9` leaves nothing behind. The exceptions are control groups of nodes with limits or slower clocks, and the
//! folder of a run on another machine: a second process removes them when the agent has ended (`sweeper`). The disks of
//! nodes that may become full or slow are loop devices, which the kernel detaches with the node. A slower CUBIC has a
//! name in the kernel, which forgets it with the agent.
//!
//! `crosswind-agent between` measures the network to other machines, in the network namespace where it was started.
//! `crosswind-agent enter PID -- CMD ...` runs a command in a node. `crosswind-agent sweep` removes the control groups
//! of agents that were killed.
//!
//! Exit statuses: 0 done; 1 internal error; 2 usage; 3 this machine cannot honour the request.

mod account;
mod address;
mod between;
mod bpf;
mod cgroup;
mod channel;
mod disk;
mod enter;
mod failure;
mod folder;
mod inbox;
mod init;
mod isolation;
mod launch;
mod link;
mod listening;
mod netlink;
mod node;
mod offloads;
mod overlay;
mod process;
mod protocol;
mod session;
mod sweeper;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: crosswind-agent                        serve requests: JSON lines on standard input and output
       crosswind-agent between                the same, to measure the network to other machines
       crosswind-agent enter PID -- CMD ...   run CMD in the node whose init is PID
       crosswind-agent sweep                  remove control groups that killed agents left
       crosswind-agent --version";

/// Obeys the arguments of the process.
pub fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(|word| word.to_str().unwrap_or("\u{fffd}")).collect();
    match words.as_slice() {
        [] => session::serve(),
        ["--version"] => {
            println!("crosswind-agent {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        ["--help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        ["between"] => between::serve(),
        ["enter", pid, "--", _, ..] => enter::main(pid, &arguments[3..]),
        ["sweep"] => cgroup::sweep_main(None),
        ["sweep", what] if what.starts_with('/') => folder::sweep_main(Path::new(&arguments[1])),
        ["sweep", _] => cgroup::sweep_main(Some(&arguments[1])),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
