//! Stores every key once, many SETs in a message: filling the server is not measured.

use std::sync::Arc;

use super::client::filler;
use super::etc::{self, Keys};
use super::protocol::answer::check_nothing_follows;
use super::protocol::text;
use crate::failure::{Failure, NotPrepared};
use crate::random::{Purpose, Random};
use crate::stop::Stop;
use crate::stream::Stream;

/// About 30 kB a message, and as many short answers as fit into one.
const KEYS_PER_MESSAGE: u64 = 100;

/// Stores the keys 0 to `keys - 1`; the sizes of their values follow from the seed.
pub fn prepare(server: &str, keys: u64, seed: u64, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut stream = Stream::connect(server, stop).map_err(NotPrepared::Unreachable)?;
    store_all(&mut stream, keys, seed, stop).map_err(NotPrepared::Failed)
}

fn store_all(stream: &mut Stream, keys: u64, seed: u64, stop: &Stop) -> Result<(), Failure> {
    let (names, filler) = (Keys::new(keys), filler());
    let (mut message, mut said, mut buffer) = (Vec::new(), Vec::new(), vec![0; 4096]);
    for first in (0..keys).step_by(KEYS_PER_MESSAGE as usize) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        let numbers = first..keys.min(first + KEYS_PER_MESSAGE);
        message.clear();
        for number in numbers.clone() {
            let bytes = etc::value_bytes(&mut Random::stream(seed, Purpose::Record, number));
            text::set(&mut message, &names.name(number), &filler[..bytes]);
        }
        stream.begin();
        stream.send(&message)?;
        for _ in numbers {
            said = loop {
                if let Some(rest) = text::answer_to_set(&said)? {
                    break rest.to_vec();
                }
                let count = stream.receive(&mut buffer)?;
                said.extend_from_slice(&buffer[..count]);
            };
        }
        check_nothing_follows(&said)?;
    }
    Ok(())
}
