//! What the packet thread needs of its machine beside ports: a clock, waiting, and an account of its own time.

use std::io;
use std::os::fd::BorrowedFd;

use crate::clock::{self, Clock, MachineClock, VirtualClock};
use crate::commands::Inbox;
use crate::host;
use crate::port::Port;
use crate::precedence::Precedence;
use crate::sleeper::{Sleeper, Woken};
use crate::warmth::Warmth;

/// Processors of a virtual machine are often two threads of one core: a loop that spins without pausing takes a tenth of the
/// application's throughput. So many pauses last about 1 us, which the ingress stamp repays.
const RELAX_PAUSES: u32 = 24;
/// A due instant closer than this is watched without pausing.
const RELAX_ABOVE_NS: u64 = 5_000;

/// The machine of a packet thread.
pub trait Machine: Clock {
    /// Whether the thread has a processor for itself.
    fn has_own_processor(&self) -> bool;

    /// The calling thread is the packet thread from now on.
    fn claim(&mut self);

    /// The thread is awake.
    fn awake(&mut self, now: u64);

    /// Names the ports that may have a frame; false where every port is to be looked at.
    fn name_ready(&mut self, ready: &mut Vec<usize>) -> bool;

    /// Lets a moment pass without sleeping. `next`: when there is something to do, probably for the port of `receiver`.
    fn spin(&mut self, now: u64, next: Option<u64>, receiver: Option<&impl Port>);

    /// Sleeps for `length_ns`, or until a frame or a command comes.
    fn sleep(&mut self, length_ns: u64, inbox: &Inbox) -> io::Result<Woken>;

    /// A sleep took so long.
    fn slept(&mut self, length_ns: u64);

    /// What the thread has had of its processor.
    fn account(&self) -> Account;
}

/// Time of a thread since it began, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// It could have run and waited for a processor; `None` where the kernel does not say.
    pub run_queue_delay_ns: Option<u64>,
    /// On a processor.
    pub cpu_ns: u64,
}

/// The machine that this program runs on.
#[derive(Debug)]
pub struct ThisMachine {
    /// The processor that the thread has for itself, and what keeps that warm.
    own: Option<(usize, Warmth)>,
    /// Processors that other threads of the emulator have for themselves.
    others: Vec<usize>,
    sleeper: Sleeper,
    precedence: Precedence,
}

impl ThisMachine {
    /// For a thread that waits for frames at `ports`, and keeps a processor for itself where it is given one.
    pub fn new<'a>(
        ports: impl Iterator<Item = [BorrowedFd<'a>; 2]>,
        own: Option<(usize, Warmth)>,
    ) -> io::Result<Self> {
        let precedence = Precedence::new(MachineClock.monotonic_ns());
        Ok(Self { own, others: Vec::new(), sleeper: Sleeper::new(ports)?, precedence })
    }

    /// The same, for a thread that keeps off these processors where it has none for itself.
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
    fn has_own_processor(&self) -> bool {
        self.own.is_some()
    }

    fn claim(&mut self) {
        host::claim(self.own.as_ref().map(|(cpu, _)| *cpu), &self.others);
    }

    fn awake(&mut self, now: u64) {
        // Who has a processor of its own needs no precedence, and would keep the kernel's threads from it.
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

    fn slept(&mut self, length_ns: u64) {
        self.precedence.slept(length_ns);
    }

    fn account(&self) -> Account {
        Account { run_queue_delay_ns: host::run_queue_delay_ns(), cpu_ns: clock::thread_cpu_ns() }
    }
}

/// What [`RELAX_PAUSES`] take.
const MOMENT_NS: u64 = 1_000;

/// How late a sleep ends on a small virtual machine.
const WAKING_NS: u64 = 25_000;

/// A machine in virtual time, without a kernel: waiting moves its clock, and what was to be waited for is there.
#[derive(Debug)]
pub struct VirtualMachine {
    /// Its clock.
    pub clock: VirtualClock,
    /// Whether the thread has a processor for itself.
    pub has_own_processor: bool,
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
    fn has_own_processor(&self) -> bool {
        self.has_own_processor
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

    fn slept(&mut self, _: u64) {}

    fn account(&self) -> Account {
        Account::default()
    }
}
