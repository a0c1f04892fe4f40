//! Hostile packets through headers, engine, monitors and forwarder, and how long that took.
//!
//!     cargo run --release -p crosswind-fuzz --bin hostile -- [PACKETS] [SEED]
//!
//! Half of them are damaged frames of the corpus, a quarter damaged super-packets, a quarter noise. Exit status 101: a claim is broken.

use std::time::Instant;

use crosswind_fuzz::corpus;
use crosswind_fuzz::mutate::Mutator;
use crosswind_fuzz::target::{headers, Hostile};
use crosswind_wire::VnetHeader;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| -> u64 {
        arguments.next().map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (packets, seed) = (number(10_000_000), number(1));
    let corpus = corpus::read("headers");
    let mut mutator = Mutator::new(seed);
    let mut hostile = Hostile::default();
    let (mut input, mut out, mut lost) = (Vec::new(), 0, 0);
    let began = Instant::now();
    for done in 1..=packets {
        if mutator.below(4) == 0 {
            input.clear();
            input.resize_with(mutator.below(200), || 0);
            input.iter_mut().for_each(|byte| *byte = mutator.number() as u8);
        } else {
            input.clone_from(&corpus[mutator.below(corpus.len())].1);
            mutator.damage(&mut input);
        }
        headers(&input);
        input.resize(input.len().max(12), 0);
        let vnet = VnetHeader::read(input[..10].try_into().expect("ten bytes"));
        let (port, after_ns, early_ns) =
            (mutator.below(3), mutator.below(40_000) as u64, mutator.below(20_000) as u64);
        if done % 100_000 == 0 {
            let (o, l) = hostile.passed();
            out += o;
            lost += l;
        }
        hostile.arrive(port, after_ns, early_ns, vnet, input[12..].to_vec());
    }
    hostile.check();
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{packets} hostile packets in {seconds:.1} s, seed {seed}: no panic, conservation holds, monitors agree; about {out} wire packets handed over, {lost} lost for a reason"
    );
}
