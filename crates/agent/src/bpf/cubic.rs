//! CUBIC on a clock that is slower: the kernel's own, whose functions are called by programs that move its clock.
//!
//! The window of CUBIC is a function of the time since the last loss, and HyStart measures times of a round. The kernel's
//! CUBIC stores instants in the connection, in ticks or microseconds, and compares them with the present. So before
//! each of its functions, a program moves these instants on by what the real clock has gained on the slower one since
//! the function before. Round-trip times are divided by the factor before CUBIC sees them. Nothing else depends on time.
//!
//! The programs need the kernel's description of its types, and functions of its CUBIC that programs may call. Where one
//! is missing, or without privileges, there is no slower CUBIC.
//!
//! Source: RFC 9438, sections 4.2 and 4.10 (the window, HyStart); kernel documentation, bpf/kfuncs.rst.

use std::io;
use std::os::fd::OwnedFd;

use super::assembly::{
    add, add_32, add_value, call_helper, call_kernel, copy, copy_32, divide, end, load, load_byte, load_wide,
    mask, multiply, remainder, set, skip_if, skip_if_at_most, skip_if_below, skip_if_negative, skip_unless,
    store, store_wide, subtract_32, Instruction,
};
use super::btf::{Structure, Types};
use super::{load_operation, register_operations};

/// Bytes of what CUBIC stores of a connection. One of another size may store other things: it is left alone.
const CUBIC_BYTES: u32 = 60;
/// The connection, over calls.
const SOCKET: u8 = 6;
const STACK_END: u8 = 10;
/// CA_EVENT_TX_START: the first packet after an idle time.
const TX_START: i32 = 0;
const JIFFIES_64: i32 = 118;
/// TCP_CA_CWR, the first of the states in which the window becomes smaller.
const CWR: i32 = 2;
/// Beta of the kernel's CUBIC.
const DECREASE: i32 = 717;
const DECREASE_OF: i32 = 1024;

/// A congestion control of this machine, as long as this value exists; connections that use it then keep it.
pub struct SlowedCubic {
    name: String,
    _link: OwnedFd,
}

impl SlowedCubic {
    /// Makes one that runs `slower` times slower (2 to 1000). Names are the machine's, so each agent has its own.
    pub fn times(slower: u64) -> io::Result<Self> {
        // At most 15 bytes: letters, digits, dots and underscores.
        let name = format!("cw{slower}.{}", std::process::id());
        let types = Types::of_the_kernel()?;
        let programs = Programs { slower: slower as i32, at: Places::find(&types)?, types: &types };
        let operations = types.structure("tcp_congestion_ops")?;
        let mut loaded = Vec::new();
        for (member, program) in programs.all()? {
            let member_of = operations.member(member)?;
            let program = load_operation(operations.number, member_of.index, member.as_bytes(), &program)?;
            loaded.push((member_of.offset, program));
        }
        let value = types.structure("bpf_struct_ops_tcp_congestion_ops")?;
        let begin = value.member("data")?.offset;
        let name_at = begin + operations.member("name")?.offset;
        let link = register_operations((value.number, value.size), begin, &loaded, name_at, name.as_bytes())?;
        Ok(Self { name, _link: link })
    }

    /// What routes and sockets call it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Offsets in the structure of a connection.
#[derive(Clone, Copy)]
struct Places {
    /// The present as TCP sees it, in microseconds.
    mstamp: i16,
    /// In the lower five bits: whether the connection recovers from a loss.
    state: i16,
    /// The window at which slow start ends, and the window before the last loss, in packets.
    threshold: i16,
    before_loss: i16,
    /// Instants of CUBIC in ticks: when the window began to grow, and when it was computed last.
    epoch: i16,
    computed: i16,
    /// Instants of HyStart in microseconds: of the round's start, and of its last acknowledgement.
    round: i16,
    acknowledged: i16,
    /// Behind what CUBIC stores: the present as of the last call, in ticks and microseconds, and what was left when the
    /// time until then was divided.
    ticks: Clock,
    microseconds: Clock,
}

#[derive(Clone, Copy)]
struct Clock {
    last: i16,
    rest: i16,
}

impl Places {
    fn find(types: &Types) -> io::Result<Self> {
        let connection = types.structure("inet_connection_sock")?;
        let tcp = types.structure("tcp_sock")?;
        let private = connection.member("icsk_ca_priv")?.offset;
        let cubic = types.structure("bictcp")?;
        if cubic.size != CUBIC_BYTES {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let within = |name: &str| Ok::<_, io::Error>((private + cubic.member(name)?.offset) as i16);
        // The verifier refuses programs that write behind what a congestion control has.
        let own = (private + cubic.size.next_multiple_of(8)) as i16;
        Ok(Self {
            mstamp: tcp.member("tcp_mstamp")?.offset as i16,
            state: connection.member("icsk_ca_state")?.offset as i16,
            threshold: tcp.member("snd_ssthresh")?.offset as i16,
            before_loss: tcp.member("prior_cwnd")?.offset as i16,
            epoch: within("epoch_start")?,
            computed: within("last_time")?,
            round: within("round_start")?,
            acknowledged: within("last_ack")?,
            ticks: Clock { last: own, rest: own + 4 },
            microseconds: Clock { last: own + 8, rest: own + 12 },
        })
    }
}

struct Programs<'a> {
    slower: i32,
    at: Places,
    types: &'a Types,
}

type Program = Vec<Instruction>;

impl Programs<'_> {
    /// A program for each operation of a congestion control. Register 1 points to the arguments of the operation.
    fn all(&self) -> io::Result<[(&'static str, Program); 7]> {
        let argument = |number: i16, register: u8| load_wide(register, 1, 8 * number);
        let kept = |slot: i16| -8 * (1 + slot);
        let keep = |slot: i16| [argument(slot + 1, 2), store_wide(STACK_END, kept(slot), 2)];
        let socket = [argument(0, SOCKET)];
        let nothing = [set(0, 0), end()];
        let call = |name| self.call(name);

        let init: Program = join(&[
            &socket,
            &call("cubictcp_init")?,
            &self.now_in_ticks(),
            &[store(SOCKET, self.at.ticks.last, 7), load(7, SOCKET, self.at.mstamp)],
            &[store(SOCKET, self.at.microseconds.last, 7), set(1, 0)],
            &[store(SOCKET, self.at.ticks.rest, 1), store(SOCKET, self.at.microseconds.rest, 1)],
            &nothing,
        ]);
        // Neither looks at a time: a loss ends the growth, and an undo restores the window.
        let ssthresh = join(&[&socket, &call("cubictcp_recalc_ssthresh")?, &[end()]]);
        let undo = join(&[&socket, &call("tcp_reno_undo_cwnd")?, &[end()]]);
        let growth = join(&[
            &socket,
            &keep(0),
            &keep(1),
            &self.move_instants(),
            &[load_wide(2, STACK_END, kept(0)), load_wide(3, STACK_END, kept(1))],
            &call("cubictcp_cong_avoid")?,
            &nothing,
        ]);
        let state = join(&[
            &socket,
            &keep(0),
            &self.move_instants(),
            &[load_wide(2, STACK_END, kept(0))],
            &call("cubictcp_state")?,
            &nothing,
        ]);
        let sample = -16;
        let acknowledged = join(&[
            &socket,
            &[argument(1, 2)],
            &repair_threshold(self.at),
            &self.perceived_sample(&self.types.structure("ack_sample")?, 2, sample)?,
            &self.move_instants(),
            &[copy(2, STACK_END), add_value(2, sample.into())],
            &call("cubictcp_acked")?,
            &nothing,
        ]);
        let idle = self.skip_idle_time();
        let event =
            join(&[&socket, &[argument(1, 2), skip_unless(2, TX_START, idle.len() as i16)], &idle, &nothing]);
        Ok([
            ("init", init),
            ("ssthresh", ssthresh),
            ("undo_cwnd", undo),
            ("cong_avoid", growth),
            ("set_state", state),
            ("pkts_acked", acknowledged),
            ("cwnd_event", event),
        ])
    }

    /// Calls a function of the kernel for the connection; further arguments are in place.
    fn call(&self, name: &str) -> io::Result<[Instruction; 2]> {
        Ok([copy(1, SOCKET), call_kernel(self.types.function(name)? as i32)])
    }

    /// Register 7 = the present in ticks.
    fn now_in_ticks(&self) -> [Instruction; 2] {
        [call_helper(JIFFIES_64), copy_32(7, 0)]
    }

    /// Moves all instants on by what the real clocks have gained since the last call.
    fn move_instants(&self) -> Program {
        let Places { epoch, computed, round, acknowledged, .. } = self.at;
        join(&[
            &self.now_in_ticks(),
            &gain(self.at.ticks, self.slower),
            &moved(epoch),
            &moved(computed),
            &[load(7, SOCKET, self.at.mstamp)],
            &gain(self.at.microseconds, self.slower),
            &moved(round),
            &moved(acknowledged),
        ])
    }

    /// After an idle time the window goes on where it was: the epoch moves on by all of that time.
    fn skip_idle_time(&self) -> Program {
        let last = self.at.ticks.last;
        let passed = [load(1, SOCKET, last), copy_32(8, 7), subtract_32(8, 1), store(SOCKET, last, 7)];
        join(&[&self.now_in_ticks(), &passed, &moved(self.at.epoch)])
    }

    /// Copies what an acknowledgement shows to the stack, with a round trip that is shorter.
    fn perceived_sample(&self, sample: &Structure<'_>, from: u8, to: i16) -> io::Result<Program> {
        if sample.size != 12 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut program = Program::new();
        for name in ["pkts_acked", "rtt_us", "in_flight"] {
            let offset = sample.member(name)?.offset as i16;
            program.push(load(1, from, offset));
            if name == "rtt_us" {
                // Negative: unknown.
                program.extend([skip_if_negative(1, 1), divide(1, self.slower)]);
            }
            program.push(store(STACK_END, to + offset, 1));
        }
        Ok(program)
    }
}

/// After a loss, computes the threshold again where the kernel has stored something else.
///
/// A kernel that does not run programs while some tasks run takes whatever is in memory for the answer of `ssthresh`.
/// It was seen in timers of TCP only, and the next acknowledgement finds it before it is used. Register 2 is not changed.
fn repair_threshold(at: Places) -> [Instruction; 16] {
    let two_or_more = [skip_if_at_most(0, 5, 1), copy(5, 0)];
    [
        load_byte(3, SOCKET, at.state),
        mask(3, 31),
        skip_if_below(3, CWR, 13),
        load(4, SOCKET, at.threshold),
        load(5, SOCKET, at.before_loss),
        set(0, 2),
        two_or_more[0],
        two_or_more[1],
        skip_if_at_most(4, 5, 7), // The window became smaller, as it should.
        multiply(5, DECREASE),
        divide(5, DECREASE_OF),
        two_or_more[0],
        two_or_more[1],
        store(SOCKET, at.threshold, 5),
        set(4, 0),
        store(SOCKET, at.epoch, 4),
    ]
}

/// Register 8 = the time until 7 less a `slower`-th of it. What is left of the division counts the next time.
fn gain(clock: Clock, slower: i32) -> [Instruction; 12] {
    [
        load(1, SOCKET, clock.last),
        copy_32(8, 7),
        subtract_32(8, 1), // 8 = what passed
        store(SOCKET, clock.last, 7),
        load(1, SOCKET, clock.rest),
        copy(9, 8),
        add(9, 1),
        copy(1, 9),
        remainder(1, slower),
        store(SOCKET, clock.rest, 1),
        divide(9, slower), // 9 = what passed on the slower clock
        subtract_32(8, 9),
    ]
}

/// Adds register 8 to an instant; zero is none.
fn moved(instant: i16) -> [Instruction; 4] {
    [load(1, SOCKET, instant), skip_if(1, 0, 2), add_32(1, 8), store(SOCKET, instant, 1)]
}

fn join(parts: &[&[Instruction]]) -> Program {
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::assembly::{run, Memory};

    #[test]
    fn an_instant_ages_by_what_passes_on_the_slower_clock() {
        let clock = Clock { last: 0, rest: 4 };
        for slower in [2, 7, 1000] {
            let program = join(&[&gain(clock, slower), &moved(8), &moved(12)]);
            // The clock of 32 bits passes its end on the way.
            let began = u32::MAX - 5_000;
            let mut memory = Memory::from([(0, began), (4, 0), (8, began), (12, 0)]);
            let mut passed = 0_u32;
            for step in [0, 1, 1, 3, 999, 1, 0, 12_345, 6] {
                passed += step;
                let now = began.wrapping_add(passed);
                run(&program, 7, now, &mut memory);
                assert_eq!(now.wrapping_sub(memory[&8]), passed / slower as u32, "{slower}, after {passed}");
                assert_eq!(memory[&12], 0, "none stays none");
            }
        }
    }

    #[test]
    fn a_threshold_above_the_window_before_a_loss_is_computed_again() {
        let clock = Clock { last: 0, rest: 0 };
        let at = Places {
            mstamp: 0,
            state: 4,
            threshold: 8,
            before_loss: 12,
            epoch: 16,
            computed: 0,
            round: 0,
            acknowledged: 0,
            ticks: clock,
            microseconds: clock,
        };
        let (open, recovery, other_bits) = (0, 3, 32);
        for (state, threshold, before, expected) in [
            (recovery, 667_073_216, 10, 7),
            (recovery | other_bits, u32::MAX, 100_000, 70_019),
            (recovery, 667_073_216, 1, 2),
            (recovery, 7, 10, 7),
            (recovery, 2, 1, 2),
            (open | other_bits, 667_073_216, 10, 667_073_216),
        ] {
            let mut memory = Memory::from([(4, state), (8, threshold), (12, before), (16, 5)]);
            run(&repair_threshold(at), 2, 0, &mut memory);
            assert_eq!(memory[&8], expected, "{state} {threshold} {before}");
            let repaired = expected != threshold;
            assert_eq!(memory[&16], if repaired { 0 } else { 5 });
        }
    }
}
