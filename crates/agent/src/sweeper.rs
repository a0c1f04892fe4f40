//! A second process, `crosswind-agent sweep WHAT`, that waits for the end of its input, which ends with the agent, for
//! whatever reason. Then it removes what a killed agent has left.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// That process, as the agent has it.
pub struct Sweeper {
    process: Child,
}

impl Sweeper {
    /// Starts it for what it is to remove.
    pub fn start(what: &OsStr) -> io::Result<Self> {
        let process = Command::new("/proc/self/exe")
            .arg("sweep")
            .arg(what)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals that a terminal sends to the agent must not reach it.
            .process_group(0)
            .spawn()?;
        Ok(Self { process })
    }
}

impl Drop for Sweeper {
    /// The agent is alive here and removes everything itself.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits in that process for the end of the agent.
pub fn await_end() {
    // An error ends the wait as the end of input does.
    let _ = io::stdin().read_to_end(&mut Vec::new());
}
