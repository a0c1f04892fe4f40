//! Everything that the other ends send is either understood or refused: orders, reports, first bytes of connections, and messages.
//!
//! The corpus is `fuzz/corpus/traffic`; what is done with it and its mutations is the same as for the targets of `crosswind-fuzz`,
//! and `cargo +nightly fuzz run traffic` is libFuzzer on it.
//! Claims: nothing crashes the reader; what was read can be written and read again; a task that passes its check can be planned,
//! counted and drawn from, whenever it starts.

use std::io;

use serde::de::DeserializeOwned;
use serde::Serialize;

use super::control::{hear, say, Exchange, Order, Report, Task};
use super::meter::Meter;
use super::size::BYTES_MAX;
use super::{hello, message};
use crate::random::{Purpose, Random};

/// The test closes the connection after this: a hostile request could make it write a terabyte.
const ANSWERED_BYTES_MAX: usize = 1 << 20;

/// Any bytes, as whatever they may be; panics where a claim is broken.
pub fn anything(input: &[u8]) {
    each_line(input, |order: Order| {
        if let Order::Prepare(task) = order {
            if task.check().is_ok() {
                can_be_carried_out(&task);
            }
        }
    });
    each_line(input, |_: Report| {});
    if let Ok((run, number)) = hello::hear(&mut &*input) {
        let mut said = Vec::new();
        hello::say(&mut said, run, number).expect("a vector takes everything");
        assert_eq!(said, input[..said.len()]);
    }
    // Hostile input may be an error; the claim is that the call returns.
    let _ = message::answer(&mut &*input, Gone(ANSWERED_BYTES_MAX));
}

fn each_line<T: Serialize + DeserializeOwned>(mut input: &[u8], mut check: impl FnMut(T)) {
    while let Ok(Some(heard)) = hear::<T>(&mut input) {
        let mut said = Vec::new();
        say(&mut said, &heard).expect("what was read can be written");
        assert!(matches!(hear::<T>(&mut said.as_slice()), Ok(Some(_))), "{}", String::from_utf8_lossy(&said));
        check(heard);
    }
}

fn can_be_carried_out(task: &Task) {
    let plan = task.load.plan(task.connections);
    if let Some(mut schedule) = plan.schedule(task.first) {
        schedule.advance();
        let _ = (schedule.due_ns(), schedule.drained_ns());
    }
    for start_ns in [0, 1 << 40, u64::MAX] {
        let window = task.load.window(start_ns);
        assert!(window.to_ns.is_none_or(|to_ns| to_ns >= window.from_ns) && window.from_ns >= start_ns);
        let mut meter = Meter::new(window, task.load.part_ns);
        meter.add(start_ns, 1);
        meter.add(u64::MAX, 1);
        assert_eq!(meter.into_counted().total_bytes, 2);
    }
    if let Exchange::Messages { size, .. } = task.load.exchange {
        let mut random = Random::stream(task.load.seed, Purpose::Connection, 0);
        assert!((0..16).all(|_| (1..=BYTES_MAX).contains(&size.draw(&mut random))), "{size}");
    }
}

/// A peer that closes after this number of bytes.
struct Gone(usize);

impl io::Write for Gone {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    /// Of each file of the corpus.
    const MUTATIONS: u64 = 2_000;

    #[test]
    fn no_damage_to_anything_that_is_heard_can_end_the_hearer() {
        crosswind_fuzz::corpus::run("traffic", MUTATIONS, super::anything);
    }
}
