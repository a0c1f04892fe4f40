//! The progress of one end of a stream, step by step, as JSON lines on the standard output of its `traffic-serve`.
//!
//! A reader that follows a run of hours has the measured values even when an end vanishes. Totals stand at instants that all ends of a
//! run have in common, counted from its start, so that they may be added and subtracted; the last is the window's end.

use std::io::{self, Write};

use serde::Serialize;

use super::meter::Window;

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Sender,
    Receiver,
}

/// What an end has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Received; null at the sender.
    pub bytes: Option<u64>,
    /// Segments sent again (the kernel counts them in 32 bits), and the smoothed round-trip time; null at the receiver.
    pub retransmits: Option<u32>,
    pub rtt_us: Option<u32>,
    /// Of the thread.
    pub cpu_ns: u64,
}

/// One line.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Line<'a> {
    connection: usize,
    end: End,
    until_ns: u64,
    #[serde(flatten)]
    totals: Totals,
    lost: Option<&'a str>,
}

/// Prints the progress of one end.
#[derive(Clone, Debug)]
pub struct Progress {
    connection: usize,
    end: End,
    window: Window,
    every_ns: u64,
    next_ns: u64,
}

impl Progress {
    /// Of one end of a connection; `every_ns` apart, or never.
    pub fn new(connection: usize, end: End, window: Window, every_ns: Option<u64>) -> Progress {
        let every_ns = every_ns.unwrap_or(u64::MAX);
        let mut progress = Progress { connection, end, window, every_ns, next_ns: u64::MAX };
        if every_ns < u64::MAX {
            progress.next_ns = progress.after(window.start_ns);
        }
        progress
    }

    /// Prints `totals`, those before this instant, if a step has passed. Call it often: it costs a comparison.
    pub fn look(&mut self, now_ns: u64, totals: impl FnOnce() -> Totals) {
        if now_ns >= self.next_ns {
            say(&self.passed(now_ns, totals()));
        }
    }

    /// Prints the last totals, and why they are the last if the window is not over.
    pub fn finish(&mut self, now_ns: u64, totals: impl FnOnce() -> Totals, lost: Option<&str>) {
        if self.next_ns == u64::MAX {
            return;
        }
        let totals = totals();
        say(&self.passed(now_ns, totals));
        if lost.is_some() {
            say(&[self.line(now_ns, totals, lost)]);
        }
    }

    /// The lines of all steps until now: an end that had nothing to do may have slept through several.
    fn passed(&mut self, now_ns: u64, totals: Totals) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        while now_ns >= self.next_ns {
            lines.push(self.line(self.next_ns, totals, None));
            self.next_ns = self.after(self.next_ns);
        }
        lines
    }

    fn line<'a>(&self, until_ns: u64, totals: Totals, lost: Option<&'a str>) -> Line<'a> {
        Line { connection: self.connection, end: self.end, until_ns, totals, lost }
    }

    /// The step after this one; the window's end is the last.
    fn after(&self, step_ns: u64) -> u64 {
        let next_ns = step_ns.saturating_add(self.every_ns);
        match self.window.to_ns {
            Some(to_ns) if step_ns >= to_ns => u64::MAX,
            Some(to_ns) => next_ns.min(to_ns),
            None => next_ns,
        }
    }
}

/// Writes a line in one piece, also when other threads write. The reader may be gone.
fn say(lines: &[Line]) {
    let mut out = io::stdout().lock();
    for line in lines {
        if let Ok(mut text) = serde_json::to_vec(line) {
            text.push(b'\n');
            let _ = out.write_all(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { start_ns: 1000, from_ns: 1000, to_ns: Some(1250) };

    fn steps(progress: &mut Progress, now_ns: u64) -> Vec<u64> {
        progress.passed(now_ns, Totals::default()).iter().map(|line| line.until_ns).collect()
    }

    #[test]
    fn the_last_step_ends_with_the_window() {
        let mut progress = Progress::new(0, End::Receiver, WINDOW, Some(100));
        assert!(steps(&mut progress, 1099).is_empty());
        assert_eq!(steps(&mut progress, 1100), [1100]);
        assert_eq!(steps(&mut progress, 1900), [1200, 1250]);
        assert!(steps(&mut progress, 2900).is_empty());
    }

    #[test]
    fn who_was_not_asked_says_nothing() {
        let mut progress = Progress::new(0, End::Sender, WINDOW, None);
        assert!(steps(&mut progress, u64::MAX - 1).is_empty());
    }

    #[test]
    fn a_line_has_its_totals_beside_its_instant() {
        let totals = Totals { bytes: Some(5), cpu_ns: 7, ..Totals::default() };
        let line = Progress::new(3, End::Receiver, WINDOW, Some(100)).line(1100, totals, None);
        assert_eq!(
            serde_json::to_string(&line).unwrap(),
            r#"{"connection":3,"end":"receiver","until_ns":1100,"bytes":5,"retransmits":null,"rtt_us":null,"cpu_ns":7,"lost":null}"#
        );
    }
}
