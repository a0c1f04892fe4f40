//! Starts agents and talks to them.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use tempfile::TempDir;

/// Long enough for a loaded machine; a test that exceeds it has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The user who runs the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The user who runs the tests.
    Own,
    /// An account without privileges, when the tests run as root.
    Nobody,
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Runs a test for every user that is available here, and prints which is not.
pub fn for_each_user(test: impl Fn(User)) {
    test(User::Own);
    if !is_root() {
        println!("SKIPPED as root: the tests do not run as root");
        return;
    }
    match Agent::start(User::Nobody).ask(json!({"do": "hello"})) {
        reply if reply.get("ok").is_some() => test(User::Nobody),
        reply => println!("SKIPPED as an unprivileged user: {reply}"),
    }
}

/// The binary in a folder where every user can execute it; the build folder may be private.
static BINARY: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = public_folder();
    let path = folder.path().join("crosswind-agent");
    std::fs::copy(env!("CARGO_BIN_EXE_crosswind-agent"), &path).unwrap();
    (folder, path)
});

/// A folder in which every user can make files.
pub fn public_folder() -> TempDir {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    folder
}

/// A command that runs the agent's binary.
pub fn command(user: User, arguments: &[&str]) -> Command {
    let mut command = match user {
        User::Own => Command::new(&BINARY.1),
        User::Nobody => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&BINARY.1);
            command
        }
    };
    command.args(arguments);
    command
}

/// A running agent.
pub struct Agent {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Disconnected when neither the agent nor an init has the agent's standard error open.
    all_gone: Receiver<()>,
    pub events: Vec<Value>,
    last_id: u64,
    pub folder: TempDir,
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Agent {
    pub fn start(user: User) -> Self {
        Self::launch(command(user, &[]))
    }

    /// Starts the agent with this command.
    pub fn launch(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the agent");
        let (send_line, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = send_line
                    .send(serde_json::from_str(&line).expect("a reply or an event is one JSON object"));
            }
        });
        let (gone, all_gone) = channel();
        let mut stderr = child.stderr.take().unwrap();
        thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            print!("{text}");
            drop(gone);
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, all_gone, events: Vec::new(), last_id: 0, folder: public_folder() }
    }

    /// An agent with a fabric of one host per node.
    pub fn with_nodes(user: User, names: &[&str]) -> Self {
        let mut agent = Self::start(user);
        agent.must(json!({"do": "up", "fabric": fabric(names)}));
        agent
    }

    /// Sends a line unchanged.
    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("input is open");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("the agent reads");
    }

    /// The next line from the agent.
    pub fn receive(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("the agent answers")
    }

    /// Sends a request and returns its reply; events before the reply are stored.
    pub fn ask(&mut self, mut request: Value) -> Value {
        self.last_id += 1;
        request["id"] = self.last_id.into();
        self.send(&request.to_string());
        loop {
            let line = self.receive();
            if line.get("event").is_some() {
                self.events.push(line);
                continue;
            }
            assert_eq!(line["id"], self.last_id, "{line}");
            return line;
        }
    }

    /// As [`ask`](Self::ask), for a request that must succeed.
    pub fn must(&mut self, request: Value) -> Value {
        let reply = self.ask(request.clone());
        reply.get("ok").unwrap_or_else(|| panic!("{request}: {reply}")).clone()
    }

    /// As [`ask`](Self::ask), for a request that must be refused; returns kind and message.
    pub fn must_not(&mut self, request: Value) -> (String, String) {
        let reply = self.ask(request);
        let error = &reply["error"];
        let text =
            |key: &str| error[key].as_str().unwrap_or_else(|| panic!("must be refused: {reply}")).to_owned();
        (text("kind"), text("message"))
    }

    /// Waits for an event that `wanted` accepts; a reply is an error.
    pub fn event(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(position) = self.events.iter().position(&wanted) {
                return self.events.remove(position);
            }
            let line = self.receive();
            assert!(line.get("event").is_some(), "only events now: {line}");
            self.events.push(line);
        }
    }

    /// A `start` request that runs a shell script in a node; its output goes to the file `name` in the agent's folder.
    pub fn shell(&self, node: &str, name: &str, script: &str) -> Value {
        let output = self.output(name);
        json!({"do": "start", "node": node, "name": name, "argv": ["sh", "-c", script], "cwd": self.folder.path(),
               "stdout": output, "stderr": output})
    }

    fn output(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a shell script in a node to its end and returns its output. The script must succeed.
    pub fn run(&mut self, node: &str, name: &str, script: &str) -> String {
        let process = self.must(self.shell(node, name, script))["process"].clone();
        let event = self.event(|event| event["process"] == process);
        let text = self.read(name);
        assert_eq!(event["code"], 0, "{script}: {event}: {text}");
        text
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.output(name)).unwrap()
    }

    /// Waits until the output `name` has this text.
    pub fn wait_for_output(&self, name: &str, text: &str) {
        eventually(PATIENCE, text, || {
            std::fs::read_to_string(self.output(name)).is_ok_and(|output| output.contains(text))
        });
    }

    pub fn end_input(&mut self) {
        drop(self.stdin.take());
    }

    pub fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id() as i32)
    }

    /// Whether the agent and every init are gone within `time`.
    pub fn all_gone_within(&self, time: Duration) -> bool {
        self.all_gone.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected)
    }
}

/// Waits for a condition that must become true.
pub fn eventually(time: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + time;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {time:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A fabric of one host per node and the empty condition.
pub fn fabric(names: &[&str]) -> Value {
    let nodes: Vec<_> = names.iter().map(|name| json!({"name": name, "host": format!("h-{name}")})).collect();
    let hosts: Vec<_> = nodes.iter().map(|node| node["host"].clone()).collect();
    let link = |from: &Value, to: &Value| json!({"from": from, "to": to, "rate_bps": 1_000_000_000u64, "delay_ns": 2000, "buffer_bytes": 524_288});
    let switch = json!("switch");
    let links: Vec<_> = hosts.iter().flat_map(|host| [link(host, &switch), link(&switch, host)]).collect();
    json!({"seed": 7, "hosts": hosts, "nodes": nodes, "switches": [switch], "links": links, "mtu_bytes": 1500,
           "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
           "condition": {"name": "none"}})
}

/// Ids of the processes whose command line contains `marker`.
pub fn processes_with(marker: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let has_marker = |process: &Path| {
        std::fs::read(process.join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(marker))
    };
    processes.filter(|process| has_marker(process)).map(|process| process.display().to_string()).collect()
}
