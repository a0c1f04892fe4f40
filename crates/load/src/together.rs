//! Connects all, starts all at one instant, and returns when the last has ended.
//!
//! One thread per connection. No thread begins before all are connected, and all get the same starting instant ahead of
//! time. A load that grew connection by connection would be another load, and averages over staggered connections add up
//! to more than a link carries.

use std::ops::Range;
use std::sync::mpsc::channel;

/// Makes the numbered connections, each in a thread of its own, and lets all run from one instant.
///
/// `agree` is called when all are connected and returns that instant (CLOCK_MONOTONIC, ns), which should lie far enough
/// ahead for every thread to receive it; `run` gets it before it has come. Returns it, and what each `run` returned.
///
/// # Errors
/// When any connection cannot be made, nothing is run: a run with fewer connections would be another experiment. Also
/// the errors of `agree`.
pub fn start_together<C, R: Send>(
    numbers: Range<usize>,
    connect: impl Fn(usize) -> Result<C, String> + Sync,
    agree: impl FnOnce() -> Result<u64, String>,
    run: impl Fn(usize, C, u64) -> R + Sync,
) -> Result<(u64, Vec<R>), String> {
    let (ready, all_ready) = channel();
    let (connect, run) = (&connect, &run);
    std::thread::scope(|scope| {
        let mut gates = Vec::new();
        let mut threads = Vec::new();
        for number in numbers.clone() {
            let (gate, start) = channel();
            let ready = ready.clone();
            let thread = std::thread::Builder::new()
                .spawn_scoped(scope, move || {
                    let connected = match connect(number) {
                        Ok(connected) => connected,
                        Err(message) => {
                            // The receiver is gone once another thread has failed.
                            let _ = ready.send(Err(message));
                            return None;
                        }
                    };
                    ready.send(Ok(())).ok()?;
                    drop(ready);
                    let start_ns = start.recv().ok()?;
                    Some(run(number, connected, start_ns))
                })
                .map_err(|error| format!("cannot start a thread for connection {number}: {error}"))?;
            gates.push(gate);
            threads.push(thread);
        }
        drop(ready); // so that waiting for a thread that died ends
        for _ in numbers {
            // On an error the gates are dropped, and with them the threads that wait at them.
            all_ready.recv().map_err(|_| "a connection's thread ended unexpectedly".to_string())??;
        }
        let start_ns = agree()?;
        for gate in gates {
            // If the thread has ended, joining it reports more.
            let _ = gate.send(start_ns);
        }
        let ended: Option<Vec<R>> = threads.into_iter().map(|thread| thread.join().ok().flatten()).collect();
        Ok((start_ns, ended.ok_or("a connection's thread ended unexpectedly")?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_run_from_the_agreed_instant_and_only_when_all_are_connected() {
        let connected = AtomicUsize::new(0);
        let (start_ns, ended) = start_together(
            3..7,
            |number| {
                connected.fetch_add(1, Ordering::SeqCst);
                Ok(number)
            },
            || {
                assert_eq!(connected.load(Ordering::SeqCst), 4);
                Ok(42)
            },
            |number, same, start_ns| (number, same, start_ns),
        )
        .unwrap();
        assert_eq!(start_ns, 42);
        assert_eq!(ended, [(3, 3, 42), (4, 4, 42), (5, 5, 42), (6, 6, 42)]);
    }

    #[test]
    fn one_connection_that_cannot_be_made_stops_all_before_they_run() {
        let result = start_together(
            0..3,
            |number| if number == 1 { Err("no route".to_string()) } else { Ok(()) },
            || unreachable!("no start is agreed on"),
            |_, (), _| unreachable!("nothing is run"),
        );
        assert_eq!(result, Err::<(u64, Vec<()>), _>("no route".to_string()));
    }

    #[test]
    fn without_connections_there_is_still_an_agreement() {
        let result = start_together(0..0, |_| Ok(()), || Ok(7), |_, (), _| ());
        assert_eq!(result, Ok((7, vec![])));
    }
}
