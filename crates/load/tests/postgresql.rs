//! The YCSB workloads against a PostgreSQL server of the test's own. SKIPPED, and says so, where none is installed.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{load, Folder, Run, Running};

const RECORDS: usize = 2000;
const SOON: Duration = Duration::from_secs(60);

/// A server with one empty cluster. It goes before its folder does.
struct Server {
    process: Running,
    address: String,
    programs: PathBuf,
    _folder: Folder,
}

impl Server {
    fn start(name: &str) -> Option<Server> {
        let Some(programs) = programs() else {
            // Not `eprintln!`, which the test harness swallows when a test passes.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED {name}: initdb, postgres and psql are in no folder of PATH or /usr/lib/postgresql"
            );
            return None;
        };
        let folder = Folder::new(name);
        let data = folder.0.join("data");
        hand_over(&folder.0);
        let initialised = unprivileged(&programs.join("initdb"))
            .args(["-A", "trust", "-U", "bench", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(initialised.success());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = unprivileged(&programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .args([
                "-p",
                &port.to_string(),
                "-h",
                "127.0.0.1",
                "-c",
                "unix_socket_directories=",
                "-c",
                "fsync=off",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Server {
            process: Running(process),
            address: format!("127.0.0.1:{port}"),
            programs,
            _folder: folder,
        };
        server.wait_until_ready();
        Some(server)
    }

    fn wait_until_ready(&self) {
        let start = Instant::now();
        while TcpStream::connect(&self.address).is_err() || self.query("SELECT 1").is_none() {
            assert!(start.elapsed() < SOON, "the server does not come up");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn query(&self, text: &str) -> Option<String> {
        let (host, port) = self.address.split_once(':').unwrap();
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-A", "-t", "-h", host, "-p", port, "-U", "bench", "-d", "postgres", "-c", text])
            .output()
            .unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_string())
    }

    fn target(&self) -> Vec<&str> {
        vec!["--store", "postgresql", "--server", &self.address, "--user", "bench", "--database", "postgres"]
    }

    fn prepare(&self, seed: &str) {
        let records = RECORDS.to_string();
        let arguments =
            [vec!["ycsb-prepare"], self.target(), vec!["--records", &records, "--seed", seed]].concat();
        assert!(load(&arguments).status().unwrap().success());
    }

    fn ycsb(&self, run: &Run, workload: &str, more: &[&str]) -> Running {
        let records = RECORDS.to_string();
        let fixed = vec!["--workload", workload, "--records", &records, "--clients", "3", "--seed", "7"];
        run.start(&[vec!["ycsb"], self.target(), fixed, more.to_vec()].concat())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.signal(libc::SIGINT); // "fast": sessions are ended, and all its processes with them
        let _ = self.process.exit_code(SOON);
    }
}

fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let packaged = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    packaged
        .map(|version| version.path().join("bin"))
        .chain(std::env::split_paths(&path))
        .find(|folder| ["initdb", "postgres", "psql"].iter().all(|program| folder.join(program).exists()))
}

fn is_root() -> bool {
    // SAFETY: asks for a number and has no preconditions.
    unsafe { libc::geteuid() == 0 }
}

const NOBODY: u32 = 65534;

fn hand_over(folder: &Path) {
    if is_root() {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// PostgreSQL refuses to run as root, so root's tests run it as nobody.
fn unprivileged(program: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.current_dir("/");
    if is_root() {
        command.gid(NOBODY).uid(NOBODY);
    }
    command
}

#[test]
fn every_workload_runs_without_an_error_on_a_table_that_the_seed_determines() {
    let Some(server) = Server::start("workloads") else {
        return;
    };
    const CONTENTS: &str =
        "SELECT count(*), md5(string_agg(usertable::text, '' ORDER BY ycsb_key)) FROM usertable";
    server.prepare("1");
    let contents = server.query(CONTENTS).unwrap();
    assert!(contents.starts_with(&format!("{RECORDS}|")), "{contents}");
    server.prepare("2");
    assert_ne!(server.query(CONTENTS).unwrap(), contents);
    server.prepare("1");
    assert_eq!(server.query(CONTENTS).unwrap(), contents);

    let folder = Folder::new("workloads-run");
    let run = Run::new(&folder);
    let mut inserted = 0;
    for (workload, expected) in [
        ("a", ["read", "update"].as_slice()),
        ("b", &["read", "update"]),
        ("c", &["read"]),
        ("d", &["insert", "read"]),
        ("e", &["insert", "scan"]),
        ("f", &["read", "read-modify-write", "read-modify-write.update"]),
    ] {
        let insert_start = (RECORDS + inserted).to_string();
        let mut client = server.ycsb(
            &run,
            workload,
            &["--operations", "600", "--warm-up", "0.05", "--insert-start", &insert_start],
        );
        assert_eq!(client.exit_code(SOON), Some(0), "workload {workload}");
        let summary = run.summary();
        assert_eq!(
            (&summary["operations"], &summary["errors"], &summary["first_error"]),
            (&600.into(), &0.into(), &serde_json::Value::Null),
            "workload {workload}"
        );
        let rows = run.rows();
        let mut operations: Vec<String> = rows.iter().map(|row| row.operation.clone()).collect();
        inserted += operations.iter().filter(|operation| *operation == "insert").count() + 3; // three may be claimed
        operations.sort();
        operations.dedup();
        assert_eq!(operations, expected, "workload {workload}");
        // A name with a dot is a part of an operation.
        let whole = rows.iter().filter(|row| !row.operation.contains('.'));
        assert_eq!(whole.filter(|row| row.measured && row.ok).count(), 600);
    }
}

#[test]
fn an_open_loop_on_a_store_keeps_its_rate() {
    let Some(server) = Server::start("rate") else {
        return;
    };
    server.prepare("1");
    let folder = Folder::new("rate-run");
    let run = Run::new(&folder);
    assert_eq!(server.ycsb(&run, "b", &["--rate", "300", "--duration", "1"]).exit_code(SOON), Some(0));
    let rows = run.rows();
    assert!((0..3).all(|connection| rows.iter().filter(|row| row.connection == connection).count() == 100));
    let mut intended: Vec<u64> = rows.iter().map(|row| row.intended_ns).collect();
    intended.sort_unstable();
    assert_eq!(intended.len(), 300);
    // A period of 3,333,333.3 ns, cut to whole nanoseconds.
    assert!(intended.windows(2).all(|pair| (3_333_333..=3_333_334).contains(&(pair[1] - pair[0]))));
}

#[test]
fn a_table_smaller_than_announced_shows_as_errors_and_exit_4() {
    let Some(server) = Server::start("smaller") else {
        return;
    };
    server.prepare("1");
    server.query("DELETE FROM usertable WHERE ycsb_key >= 'user3'").unwrap();
    let folder = Folder::new("smaller-run");
    let run = Run::new(&folder);
    assert_eq!(server.ycsb(&run, "c", &["--operations", "300"]).exit_code(SOON), Some(4));
    let summary = run.summary();
    assert_eq!(summary["operations"], 300);
    assert!(summary["first_error"].as_str().unwrap().contains("0 rows where one was expected"), "{summary}");
}

#[test]
fn a_server_that_is_shut_down_says_so_in_the_first_error() {
    let Some(server) = Server::start("shutdown") else {
        return;
    };
    server.prepare("1");
    let folder = Folder::new("shutdown-run");
    let run = Run::new(&folder);
    let mut client = server.ycsb(&run, "a", &["--duration", "600"]);
    std::thread::sleep(Duration::from_millis(500));
    server.process.signal(libc::SIGINT);
    assert_eq!(client.exit_code(SOON), Some(4));
    let summary = run.summary();
    assert_eq!(summary["ended_by"], "connections-lost");
    assert!(summary["first_error"].as_str().unwrap().contains("57P01"), "{summary}"); // admin_shutdown
    assert!(run.rows().len() > 10);
}

#[test]
fn a_database_without_the_table_is_exit_3_and_names_the_remedy() {
    let Some(server) = Server::start("without") else {
        return;
    };
    let folder = Folder::new("without-run");
    let mut client = server.ycsb(&Run::new(&folder), "a", &["--operations", "1"]);
    assert_eq!(client.exit_code(SOON), Some(3));
    let mut message = String::new();
    client.0.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert!(message.contains("42P01") && message.contains("ycsb-prepare"), "{message}");
    // undefined_table
}
