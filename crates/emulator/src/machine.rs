//! The packet thread's view of its machine, apart from ports: a clock, waiting, and its own CPU time.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::clock::{self, Clock, MachineClock, VirtualClock};
use crate::commands::Inbox;
use crate::host;
use crate::pace::Pace;
use crate::port::Port;
use crate::precedence::Precedence;
use crate::sleeper::{Sleeper, Woken};
use crate::warmth::Warmth;

/// CPUs of a virtual machine are often two threads of one core: a loop that spins without pauses takes a tenth of the
/// application's throughput. This number of pauses takes about 1 us; the ingress stamp compensates for it.
const RELAX_PAUSES: u32 = 24;
/// Within this time of a due instant the loop does not pause.
const RELAX_ABOVE_NS: u64 = 5_000;

/// The machine of a packet thread.
pub trait Machine: Clock {
    /// Whether the thread has its own CPU.
    fn has_own_cpu(&self) -> bool;

    /// Makes the calling thread the packet thread.
    fn claim(&mut self);

    /// The thread is awake.
    fn awake(&mut self, now: u64);

    /// Lists the ports that may have a frame; false if every port must be checked.
    fn name_ready(&mut self, ready: &mut Vec<usize>) -> bool;

    /// Waits for a moment without sleeping. `next`: the next due instant, probably for the port of `receiver`.
    fn spin(&mut self, now: u64, next: Option<u64>, receiver: Option<&impl Port>);

    /// Sleeps for `length_ns`, or until a frame or a command comes.
    fn sleep(&mut self, length_ns: u64, inbox: &Inbox) -> io::Result<Woken>;

    /// The thread's use of its CPU, in real time.
    fn account(&self) -> Account;

    /// The pace of its clock; lengths and instants of all methods but `account` are perceived ones.
    fn pace(&self) -> Pace {
        Pace::real_time()
    }
}

/// Time of a thread since it began, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Runnable, and waiting for a CPU; `None` where the kernel does not report it.
    pub run_queue_delay_ns: Option<u64>,
    /// On a CPU.
    pub cpu_ns: u64,
}

/// The machine that this program runs on.
#[derive(Debug)]
pub struct ThisMachine {
    /// The CPU that only this thread uses, and the socket that keeps it warm.
    own: Option<(usize, Warmth)>,
    /// CPUs that other threads of the emulator have to themselves.
    others: Vec<usize>,
    sleeper: Sleeper,
    precedence: Precedence,
}

impl ThisMachine {
    /// For a thread that waits for frames at `ports`, on its own CPU if one is given.
    pub fn new<'a>(
        ports: impl Iterator<Item = [BorrowedFd<'a>; 2]>,
        own: Option<(usize, Warmth)>,
    ) -> io::Result<Self> {
        let precedence = Precedence::new(MachineClock.monotonic_ns());
        Ok(Self { own, others: Vec::new(), sleeper: Sleeper::new(ports)?, precedence })
    }

    /// The same, for a thread that also waits for this tunnel.
    pub fn with(self, tunnel: Option<OwnedFd>) -> Self {
        Self { sleeper: self.sleeper.with(tunnel), ..self }
    }

    /// The same, for a thread that avoids these CPUs if it has none of its own.
    pub fn off(self, others: Vec<usize>) -> Self {
        Self { others, ..self }
    }
}

impl Clock for ThisMachine {
    fn monotonic_ns(&self) -> u64 {
        MachineClock.monotonic_ns()
    }

    fn realtime_ns(&self) -> u64 {
        MachineClock.realtime_ns()
    }
}

impl Machine for ThisMachine {
    fn has_own_cpu(&self) -> bool {
        self.own.is_some()
    }

    fn claim(&mut self) {
        host::claim(self.own.as_ref().map(|(cpu, _)| *cpu), &self.others);
    }

    fn awake(&mut self, now: u64) {
        // A thread with its own CPU needs no precedence, which would keep the kernel's threads off that CPU.
        if self.own.is_none() {
            self.precedence.keep(now);
        }
    }

    fn name_ready(&mut self, ready: &mut Vec<usize>) -> bool {
        self.sleeper.name_ready(ready)
    }

    fn spin(&mut self, now: u64, next: Option<u64>, receiver: Option<&impl Port>) {
        let close = next.is_some_and(|due| due < now + RELAX_ABOVE_NS);
        if let (Some((_, warmth)), false) = (&mut self.own, close) {
            warmth.keep(now, next, receiver);
        }
        for _ in 0..if close { 1 } else { RELAX_PAUSES } {
            std::hint::spin_loop();
        }
    }

    fn sleep(&mut self, length_ns: u64, inbox: &Inbox) -> io::Result<Woken> {
        self.sleeper.sleep(length_ns, inbox)
    }

    fn account(&self) -> Account {
        Account { run_queue_delay_ns: host::run_queue_delay_ns(), cpu_ns: clock::thread_cpu_ns() }
    }
}

/// Duration of [`RELAX_PAUSES`].
const MOMENT_NS: u64 = 1_000;

/// How late a sleep ends on a small virtual machine.
const WAKING_NS: u64 = 25_000;

/// A machine in virtual time, without a kernel: waiting advances its clock to the awaited instant.
#[derive(Debug)]
pub struct VirtualMachine {
    /// Its clock.
    pub clock: VirtualClock,
    /// Whether the thread has its own CPU.
    pub has_own_cpu: bool,
}

impl Clock for VirtualMachine {
    fn monotonic_ns(&self) -> u64 {
        self.clock.monotonic_ns()
    }

    fn realtime_ns(&self) -> u64 {
        self.clock.realtime_ns()
    }
}

impl Machine for VirtualMachine {
    fn has_own_cpu(&self) -> bool {
        self.has_own_cpu
    }

    fn claim(&mut self) {}

    fn awake(&mut self, _: u64) {}

    fn name_ready(&mut self, _: &mut Vec<usize>) -> bool {
        false
    }

    fn spin(&mut self, now: u64, next: Option<u64>, _: Option<&impl Port>) {
        if next.is_none_or(|next| next > now + RELAX_ABOVE_NS) {
            self.clock.advance_to(now + MOMENT_NS);
        }
    }

    fn sleep(&mut self, length_ns: u64, _: &Inbox) -> io::Result<Woken> {
        self.clock.advance_to(self.monotonic_ns() + length_ns + WAKING_NS);
        Ok(Woken { by_itself: true, by_command: false })
    }

    fn account(&self) -> Account {
        Account::default()
    }
}
