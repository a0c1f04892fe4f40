//! The committed corpus: one folder for each target.

use std::path::{Path, PathBuf};

use crate::mutate::Mutator;

/// The corpus of a target, by file name, sorted.
///
/// # Panics
/// Where the folder cannot be read: a test without its input proves nothing.
pub fn read(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<(PathBuf, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.expect("a folder can be listed").path();
            let bytes = std::fs::read(&path).expect("a file of the corpus can be read");
            (path, bytes)
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

/// Runs a target on its corpus, and on `mutations` damaged copies of each file.
pub fn run(target: &str, mutations: u64, check: fn(&[u8])) {
    for (seed, (path, bytes)) in (0..).zip(read(target)) {
        check(&bytes);
        let mut mutator = Mutator::new(seed);
        let mut damaged = bytes.clone();
        for number in 0..mutations {
            // Damage adds up for a while, then starts anew.
            if number % 16 == 0 {
                damaged.clone_from(&bytes);
            }
            mutator.damage(&mut damaged);
            let outcome = std::panic::catch_unwind(|| check(&damaged));
            if let Err(panic) = outcome {
                let kept = std::env::temp_dir().join(format!("crosswind-fuzz-{target}-{number}"));
                std::fs::write(&kept, &damaged).expect("the temporary folder can be written");
                eprintln!("{target}: mutation {number} of {}: kept as {}", path.display(), kept.display());
                std::panic::resume_unwind(panic);
            }
        }
    }
}
