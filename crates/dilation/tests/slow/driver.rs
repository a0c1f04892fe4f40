//! Runs programs under a factor, with the example `slow`, which is built with the tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A folder for programs that the tests compile.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

/// What measures time runs alone: a thousand programs beside it would be what is measured.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ticks of the time-stamp counter in a microsecond. Nothing dilates this counter.
pub static TICKS_PER_US: LazyLock<f64> = LazyLock::new(|| {
    // SAFETY: every x86-64 CPU has this counter.
    let ticks = || unsafe { core::arch::x86_64::_rdtsc() };
    let (began, first) = (Instant::now(), ticks());
    std::thread::sleep(Duration::from_millis(200));
    (ticks() - first) as f64 / began.elapsed().as_secs_f64() / 1e6
});

/// How late this machine wakes processes at the moment, ms: the worst of forty threads, each the best of five sleeps.
pub fn lateness_ms() -> f64 {
    let _alone = alone();
    let sleep = Duration::from_millis(20);
    let late = move || {
        let began = Instant::now();
        std::thread::sleep(sleep);
        began.elapsed() - sleep
    };
    let threads: Vec<_> = (0..40).map(|_| std::thread::spawn(move || (0..5).map(|_| late()).min())).collect();
    let worst = threads.into_iter().filter_map(|thread| thread.join().unwrap()).max();
    worst.unwrap_or_default().as_secs_f64() * 1e3
}

/// What became of a program.
pub struct Outcome {
    pub status: i32,
    pub stdout: String,
    /// Its own, and the report of the supervisor at the end.
    pub stderr: String,
    pub took: Duration,
}

impl Outcome {
    /// Seconds that the program printed first on a line.
    pub fn seconds(&self) -> f64 {
        let text = self.stdout.split_whitespace().next().unwrap_or_default();
        text.parse().unwrap_or_else(|_| panic!("{:?} {:?}", self.stdout, self.stderr))
    }
}

/// Runs a command with the clock `factor` times slower.
pub fn slow(factor: u64, command: &[&str]) -> Outcome {
    under(&Clock { factor, offset_ns: 0, rate_ppb: 1_000_000_000 }, command)
}

/// A clock that is slower and wrong.
pub struct Clock {
    pub factor: u64,
    pub offset_ns: i64,
    pub rate_ppb: u64,
}

impl Clock {
    /// Real seconds in a perceived one.
    pub fn slowness(&self) -> f64 {
        self.factor as f64 * 1e9 / self.rate_ppb as f64
    }
}

/// Runs a command under a clock.
pub fn under(clock: &Clock, command: &[&str]) -> Outcome {
    let example = std::env::current_exe().unwrap().parent().unwrap().join("../examples/slow");
    assert!(example.exists(), "{} is built by cargo test", example.display());
    let _alone = alone();
    let began = Instant::now();
    let numbers = [clock.factor.to_string(), clock.offset_ns.to_string(), clock.rate_ppb.to_string()];
    // What hangs is ended, and fails alone instead of all tests.
    let output = Command::new("timeout")
        .arg("120")
        .arg(example)
        .args(numbers)
        .args(command)
        .current_dir(FOLDER.path())
        .output();
    let Output { status, stdout, stderr } = output.unwrap();
    Outcome {
        status: status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        took: began.elapsed(),
    }
}

/// A program of the tests, compiled by this command, `OUT` and `IN` replaced; `None`, and a line that says so, where the
/// compiler is missing.
pub fn compiled(source: &str, name: &str, command: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let out = FOLDER.path().join(name);
    let words = command.iter().map(|word| match *word {
        "IN" => source.as_os_str().to_owned(),
        "OUT" => out.as_os_str().to_owned(),
        word => word.into(),
    });
    let words: Vec<_> = words.collect();
    match Command::new(&words[0]).args(&words[1..]).env("GOCACHE", FOLDER.path().join("go")).output() {
        Err(error) => {
            println!("SKIPPED {name}: {}: {error}", command[0]);
            None
        }
        Ok(done) if done.status.success() => Some(out),
        Ok(done) => {
            println!("SKIPPED {name}: {}", String::from_utf8_lossy(&done.stderr));
            None
        }
    }
}
