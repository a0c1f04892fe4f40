//! Serves one caller: requests in order, events between them, and an end that undoes everything.
//!
//! One thread does everything and waits in one place (`inbox`). While a request waits for a node, the thread handles
//! all other events; only further requests wait for it.

mod application;
mod dilation;
mod disk;
mod fabric;
mod files;
mod machines;
mod strike;
mod switch;
mod usage;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crosswind_emulator::Emulator;
use nix::sys::signal::{signal, SigHandler, Signal};
use nix::sys::utsname::uname;
use nix::unistd::geteuid;
use serde_json::{json, Value};

use crate::account::Account;
use crate::between::Wall;
use crate::bpf::cubic::SlowedCubic;
use crate::cgroup::Groups;
use crate::channel::FromInit;
use crate::failure::{Failure, Kind};
use crate::folder::RunFolder;
use crate::inbox::{Event, Inbox};
use crate::init::Usage;
use crate::isolation;
use crate::launch::Launcher;
use crate::node::Node;
use crate::overlay::Overlay;
use crate::process::{Exit, Processes};
use crate::protocol::{self, Action, Writer};
use dilation::{check_clocks, Slowing};
pub use files::Put;
pub use machines::key_of;
use machines::{check_instant, Machines};

/// Serves requests on the standard streams until the caller, a signal or the lease ends it.
pub fn serve() -> ExitCode {
    let outcome = Session::begin().and_then(|mut session| {
        let outcome = session.run();
        session.undo();
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The caller closed its end during a write; that is a regular end of a session.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crosswind-agent: {error}; everything was undone");
            ExitCode::FAILURE
        }
    }
}

struct Session {
    /// Whether this machine allows the agent to work at all; if not, every request is answered with the reason.
    isolated: Result<(), Failure>,
    rootless: bool,
    application: Account,
    launcher: Launcher,
    writer: Writer,
    inbox: Inbox,
    /// Lines that arrived while a request was being carried out.
    backlog: VecDeque<Vec<u8>>,
    input_ended: bool,
    terminated: bool,
    /// The error after which nothing can be written to the caller.
    unwritable: Option<io::Error>,
    lease: Option<Lease>,
    /// When steps are reported next, while the caller watches.
    reports_at: Option<Instant>,
    /// Those of the fabric that is up. A machine that carries a switch or hosts without programs has none.
    nodes: Vec<Node>,
    /// The groups that enforce the limits of nodes.
    groups: Groups,
    /// What each node had used when the measurement window began.
    used_before: Vec<Option<Usage>>,
    emulator: Option<Emulator>,
    machines: Machines,
    processes: Processes,
    /// The files of the run on this machine; they go with the session.
    folder: Option<RunFolder>,
    /// The overlay of the fabric that is up, or comes up.
    overlay: Option<Overlay>,
    /// Slower clocks of the fabric that is up, or comes up.
    slowed: Option<Slowing>,
    /// CUBIC on that clock, where nodes use it and the machine allows it.
    cubic: Option<SlowedCubic>,
}

/// How long the caller may send no request.
struct Lease {
    length: Duration,
    ends: Instant,
}

/// The result of one wait, for a request that waits for a node.
enum Step {
    /// The node at this position answered an order.
    Answer(usize, FromInit),
    /// Another event, which has been handled.
    Other,
    Deadline,
}

impl Session {
    fn begin() -> io::Result<Self> {
        let rootless = !geteuid().is_root();
        let application = Account::for_applications();
        // SAFETY: the default action runs no code. If the caller ignores SIGCHLD, the agent inherits that and would
        // lose its children.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }?;
        // In the namespaces where it was started, by whose rights raw Ethernet is allowed.
        let machines = Machines::here();
        // Before anything could have started a thread.
        let entered = isolation::enter_user_namespace();
        let isolated = entered.and_then(|()| isolation::enter_network_namespace());
        Ok(Self {
            isolated,
            rootless,
            application,
            launcher: Launcher::new()?,
            writer: Writer::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)),
            inbox: Inbox::new(io::stdin().as_fd().try_clone_to_owned()?)?,
            backlog: VecDeque::new(),
            input_ended: false,
            terminated: false,
            unwritable: None,
            lease: None,
            reports_at: None,
            nodes: Vec::new(),
            groups: Groups::default(),
            used_before: Vec::new(),
            emulator: None,
            machines,
            processes: Processes::default(),
            folder: None,
            overlay: None,
            slowed: None,
            cubic: None,
        })
    }

    fn run(&mut self) -> io::Result<()> {
        loop {
            if let Some(error) = self.unwritable.take() {
                return Err(error);
            }
            if self.terminated {
                return Ok(());
            }
            if let Some(line) = self.backlog.pop_front() {
                self.answer(&line);
                if let Some(lease) = &mut self.lease {
                    lease.ends = Instant::now() + lease.length;
                }
            } else if self.input_ended {
                return Ok(());
            } else if let Step::Deadline = self.step(self.lease.as_ref().map(|lease| lease.ends))? {
                eprintln!("crosswind-agent: no request for the length of the lease; everything is undone");
                return Ok(());
            }
        }
    }

    fn answer(&mut self, line: &[u8]) {
        let (id, action) = protocol::parse(line);
        let outcome = action.and_then(|action| self.isolated.clone().and_then(|()| self.carry_out(action)));
        let written = self.writer.reply(id, &outcome);
        self.note_write(written);
    }

    fn carry_out(&mut self, action: Action) -> Result<Value, Failure> {
        match action {
            Action::Hello {} => Ok(hello(self.rootless, self.application)),
            Action::Bind(binding) => self.bind(&binding),
            Action::Join(join) => self.join(&join),
            Action::Meet { for_ns } => self.meet(for_ns),
            Action::Up { fabric, generation, record, capture, limits, switch, overlay, dilation, clocks } => {
                let files = (record.as_deref(), capture.as_ref());
                self.overlay = overlay;
                check_clocks(clocks)?;
                self.slowed = dilation.map(Slowing::new).transpose()?;
                self.up(&fabric, generation, files, &limits, switch)
            }
            Action::Start(start) => self.start(start),
            Action::Stop { process, grace_ns } => self.stop(process, Duration::from_nanos(grace_ns)),
            Action::Signal { process, signal } => self.signal(process, signal),
            Action::Set { condition, at_ns } => {
                check_instant("set", at_ns)?;
                let effective_ns = self.emulator("set")?.set(&condition, at_ns).map_err(Failure::invalid)?;
                Ok(json!({ "effective_ns": effective_ns }))
            }
            Action::Cut { cuts, at_ns } => {
                check_instant("cut", at_ns)?;
                let effective_ns = self.emulator("cut")?.cut(&cuts, at_ns).map_err(Failure::invalid)?;
                Ok(json!({ "effective_ns": effective_ns }))
            }
            Action::Measure { at_ns } => self.measure(at_ns),
            Action::Pause(struck) => self.strike("pause", libc::SIGSTOP, &struck),
            Action::Resume(struck) => self.strike("resume", libc::SIGCONT, &struck),
            Action::Kill(struck) => self.strike("kill", libc::SIGKILL, &struck),
            Action::Limit(limit) => self.limit(&limit),
            Action::Mount { node, folder } => self.mount(&node, &folder),
            Action::Disks { rate } => disk::check(rate).map(|()| json!({})),
            Action::Disk(change) => self.disk(&change),
            Action::Clock(change) => self.clock(&change),
            Action::Clocks {} => self.clocks(),
            Action::Listening { node } => self.listening(&node),
            Action::Wall {} => Ok(json!(Wall::read())),
            Action::Read {} => self.read(),
            Action::Watch {} => self.watch(),
            Action::Lease { seconds } => self.take_lease(seconds),
            Action::Down {} => Ok(self.down()),
            Action::Folder { path, keep } => self.open_folder(&path, keep),
            Action::Make { path, owner, mode } => self.make_folder(&path, owner, mode),
            Action::Clear { path } => self.clear(&path),
            Action::Copy { path, from, owner, mode } => self.copy(&from, &path, owner, mode),
            Action::Put(put) => self.put(put),
            Action::Get { path, offset, length } => self.get(&path, offset, length),
            Action::Checksum { path } => self.checksum(&path),
        }
    }

    fn emulator(&mut self, request: &str) -> Result<&mut Emulator, Failure> {
        self.must_be_up(request)?;
        self.emulator.as_mut().ok_or_else(|| {
            Failure::invalid(format!(
                "{request}: no emulator carries this fabric; request `up` without `switch`"
            ))
        })
    }

    /// Other backends have a node that is the switch.
    fn is_up(&self) -> bool {
        self.emulator.is_some() || !self.nodes.is_empty()
    }

    fn must_be_up(&self, request: &str) -> Result<(), Failure> {
        if !self.is_up() {
            return Err(Failure::invalid(format!("{request}: no fabric is up; request `up` first")));
        }
        Ok(())
    }

    fn take_lease(&mut self, seconds: u64) -> Result<Value, Failure> {
        let length = Duration::from_secs(seconds);
        let ends = Instant::now().checked_add(length).filter(|_| seconds > 0).ok_or_else(|| {
            Failure::invalid(format!("lease: {seconds} seconds: must be at least 1 and fit the clock; without a lease there is no limit"))
        })?;
        self.lease = Some(Lease { length, ends });
        self.writer.patience = Some(length);
        Ok(json!({}))
    }

    /// Waits for one event and handles it, unless it is an answer that a request waits for.
    fn step(&mut self, deadline: Option<Instant>) -> io::Result<Step> {
        let earliest = [deadline, self.reports_at].into_iter().flatten().min();
        match self.inbox.next(&self.nodes, earliest)? {
            Event::Deadline if deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
                return Ok(Step::Deadline)
            }
            Event::Deadline => self.report_steps(),
            Event::Line(line) => self.backlog.push_back(line),
            Event::InputEnded => self.input_ended = true,
            Event::Terminated => self.terminated = true,
            Event::Fault(message) => self.report_fault(&message),
            Event::Lost(position) => self.lose(position),
            Event::Message(position, received) => match received.message {
                answer @ (FromInit::Done
                | FromInit::Refused(_)
                | FromInit::Struck { .. }
                | FromInit::Used(_)
                | FromInit::Dilated(_)) => return Ok(Step::Answer(position, answer)),
                FromInit::Born { process } => {
                    if let Some(process) = self.processes.get_mut(process) {
                        process.pid = received.sender;
                    }
                }
                FromInit::Exited { process, code, signal } => {
                    self.report_exit(process, Exit { code, signal })
                }
                FromInit::GroupEnded { process } => {
                    if let Some(process) = self.processes.get_mut(process) {
                        process.group_ended = true;
                    }
                }
            },
        }
        Ok(Step::Other)
    }

    /// As [`step`](Self::step), in the middle of a request.
    fn wait(&mut self, deadline: Option<Instant>) -> Result<Step, Failure> {
        self.step(deadline).map_err(|error| Failure::internal(format!("wait for a node: {error}")))
    }

    /// Whether the session is ending, so that no caller waits for the result.
    fn ending(&self) -> bool {
        self.terminated || self.input_ended || self.unwritable.is_some()
    }

    fn lose(&mut self, position: usize) {
        self.nodes[position].lost = true;
        for process in self.processes.node_lost(position) {
            let written = self.writer.exited(process, None, Some(libc::SIGKILL));
            self.note_write(written);
        }
        let message = format!(
            "node {}: its init was killed from outside; request `down` and `up`",
            self.nodes[position].name
        );
        self.report_fault(&message);
    }

    fn report_exit(&mut self, number: u64, exit: Exit) {
        let Some(process) = self.processes.get_mut(number) else {
            return;
        };
        process.exit = Some(exit);
        let written = self.writer.exited(number, exit.code, exit.signal);
        self.note_write(written);
    }

    fn watch(&mut self) -> Result<Value, Failure> {
        self.emulator("watch")?.watch().map_err(Failure::invalid)?;
        self.look_for_steps();
        Ok(json!({}))
    }

    fn report_steps(&mut self) {
        for report in self.emulator.as_mut().map(Emulator::reports).unwrap_or_default() {
            let written = self.writer.step(&report);
            self.note_write(written);
        }
        self.look_for_steps();
    }

    fn look_for_steps(&mut self) {
        self.reports_at = self.emulator.as_ref().map(|emulator| Instant::now() + emulator.next_report_in());
    }

    fn report_fault(&mut self, message: &str) {
        let written = self.writer.fault(message);
        self.note_write(written);
    }

    fn note_write(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.unwritable.get_or_insert(error);
        }
    }
}

/// What an agent says of itself and its machine.
pub fn hello(rootless: bool, application: Account) -> Value {
    json!({
        "protocol": protocol::PROTOCOL,
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "rootless": rootless,
        "kernel": uname().ok().map(|name| name.release().to_string_lossy().into_owned()),
        "application_uid": application.uid,
        "application_gid": application.gid,
    })
}

/// Puts the subject in front of a refusal that comes from inside a node.
fn about(what: &str, failure: Failure) -> Failure {
    let Failure { kind, message } = failure;
    Failure { kind, message: format!("{what}: {message}") }
}

/// A node that cannot be reached has died; the fault has been or will be reported.
fn unreachable(node: &str) -> Failure {
    Failure {
        kind: Kind::Internal,
        message: format!("node {node}: its init is gone; request `down` and `up`"),
    }
}
