//! What the end-to-end tests share: running the binary, and reading what it wrote.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A command line of the binary under test.
pub fn load(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crosswind-load"));
    command.args(arguments);
    command
}

/// A process that does not outlive its test.
pub struct Running(pub Child);

impl Running {
    /// Sends a signal.
    pub fn signal(&self, number: i32) {
        // SAFETY: a signal to a child that has not been waited for, so the number cannot be somebody else's.
        unsafe { libc::kill(self.0.id() as i32, number) };
    }

    /// Waits for the end and returns the exit status; panics when it takes longer than `at_most`.
    pub fn exit_code(&mut self, at_most: Duration) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < at_most, "still running after {at_most:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder that goes with its test.
pub struct Folder(pub PathBuf);

impl Folder {
    /// A new folder; `name` keeps the tests of one process apart.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("crosswind-load-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One row of a samples file.
#[derive(Clone, Debug)]
pub struct Row {
    pub operation: String,
    pub connection: usize,
    pub intended_ns: u64,
    pub started_ns: u64,
    pub finished_ns: u64,
    pub ok: bool,
    pub measured: bool,
}

/// The files of one run.
pub struct Run {
    folder: PathBuf,
}

impl Run {
    /// A run whose files are in the folder.
    pub fn new(folder: &Folder) -> Run {
        Run { folder: folder.0.clone() }
    }

    /// Starts the binary with these arguments and its output in the folder.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut command = load(arguments);
        command
            .arg("--samples")
            .arg(self.path("samples.csv"))
            .arg("--summary")
            .arg(self.path("summary.json"));
        Running(command.stderr(Stdio::piped()).spawn().unwrap())
    }

    /// The rows that it wrote, checked against the contract.
    pub fn rows(&self) -> Vec<Row> {
        let text = std::fs::read_to_string(self.path("samples.csv")).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("operation,connection,intended_ns,started_ns,finished_ns,ok,measured"));
        lines.map(row).collect()
    }

    /// The summary that it wrote.
    pub fn summary(&self) -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(self.path("summary.json")).unwrap()).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.folder).join(name)
    }
}

/// One row of a samples file.
pub fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.split(',').collect();
    let [operation, connection, intended_ns, started_ns, finished_ns, ok, measured] = fields[..] else {
        panic!("a row of seven fields, not {line}")
    };
    let flag = |text| match text {
        "0" => false,
        "1" => true,
        _ => panic!("0 or 1, not {text}"),
    };
    let row = Row {
        operation: operation.into(),
        connection: connection.parse().unwrap(),
        intended_ns: intended_ns.parse().unwrap(),
        started_ns: started_ns.parse().unwrap(),
        finished_ns: finished_ns.parse().unwrap(),
        ok: flag(ok),
        measured: flag(measured),
    };
    assert!(row.intended_ns <= row.started_ns && row.started_ns <= row.finished_ns, "{line}");
    row
}
