//! Whatever the network does, everything that was written is read once and in order, and sending does not run away.

use proptest::prelude::*;

use crosswind_tcp::{Algorithm, Segment};

use crate::pipe::{settings, Fate, Pipe, MS};

/// A network that loses, delays and reorders, by a table of draws that repeats.
fn network(draws: Vec<(bool, u8)>, base_ns: u64) -> impl FnMut(usize, &Segment) -> Fate {
    let mut next = 0;
    move |_, _| {
        let (lost, more) = draws[next % draws.len()];
        next += 1;
        (!lost).then_some(base_ns + u64::from(more) * MS / 16)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn everything_arrives_once(
        draws in prop::collection::vec((prop::bool::weighted(0.15), any::<u8>()), 7..200),
        base_us in 10u64..100_000,
        bytes in 1u64..400_000,
        answers in 0u64..3,
        reno in any::<bool>(),
    ) {
        // A table that loses everything lets nothing through.
        prop_assume!(draws.iter().filter(|(lost, _)| !lost).count() * 2 > draws.len());
        let algorithm = if reno { Algorithm::Reno } else { Algorithm::Cubic };
        let mut pipe = Pipe::made(settings(algorithm), network(draws, base_us * 1_000));
        pipe.answers = answers;
        pipe.write(0, bytes);
        let mut steps = 0;
        while pipe.read[1] < bytes || pipe.read[0] < bytes * answers {
            prop_assert!(pipe.step(), "it stands still after {:?} of {bytes} bytes", pipe.read);
            steps += 1;
            prop_assert!(steps < 200_000, "it does not end: {:?} of {bytes} bytes", pipe.read);
        }
        prop_assert_eq!(pipe.read, [bytes * answers, bytes]);
    }
}
