//! Waits for a frame at any port, a command, or an instant.
//!
//! The kernel holds the list of ports (epoll), so that a sleep costs the same with two ports and with a thousand.
//! `ppoll` waits for the list: `epoll_wait` counts in milliseconds, and `epoll_pwait2` needs Linux 5.11. With many
//! ports the kernel also lists those that have frames. Nothing is allocated.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;

use crate::commands::Inbox;

/// The reason why a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    /// Its time was over.
    pub by_itself: bool,
    /// The inbox was found readable.
    pub by_command: bool,
}

/// The sources that can end a sleep.
#[derive(Debug)]
pub struct Sleeper {
    ports: Epoll,
    /// Present if the kernel lists the ports with frames.
    events: Option<Box<[EpollEvent]>>,
    /// The tunnel to other machines, where there are any.
    tunnel: Option<OwnedFd>,
}

/// Checking this number of ports takes as long as a call to the kernel, 0.5 us.
const LOOKED_AT_MAX: usize = 64;
/// Ports per list; the others follow in the next one.
const NAMED_MAX: usize = 256;

impl Sleeper {
    /// Waits for frames at these ports, each of which has some descriptors.
    pub fn new<'a, D>(ports: impl Iterator<Item = D>) -> io::Result<Self>
    where
        D: IntoIterator<Item = BorrowedFd<'a>>,
    {
        let list = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let mut count = 0;
        for port in ports {
            for descriptor in port {
                list.add(descriptor, EpollEvent::new(EpollFlags::EPOLLIN, count as u64))?;
            }
            count += 1;
        }
        let events = (count > LOOKED_AT_MAX).then(|| vec![EpollEvent::empty(); NAMED_MAX].into());
        Ok(Self { ports: list, events, tunnel: None })
    }

    /// The same, which also wakes when this descriptor is readable.
    pub fn with(self, tunnel: Option<OwnedFd>) -> Self {
        Self { tunnel, ..self }
    }

    /// Lists the ports that may have a frame; false if every port must be checked.
    pub fn name_ready(&mut self, ready: &mut Vec<usize>) -> bool {
        ready.clear();
        let Some(events) = &mut self.events else { return false };
        let Ok(count) = self.ports.wait(events, EpollTimeout::ZERO) else { return false };
        ready.extend(events[..count].iter().map(|event| event.data() as usize));
        true
    }

    /// Sleeps for at most `length_ns`, or until a frame or a command comes.
    pub fn sleep(&self, length_ns: u64, inbox: &Inbox) -> io::Result<Woken> {
        let waiting = |descriptor| PollFd::new(descriptor, PollFlags::POLLIN);
        // The inbox stands in where there is no tunnel, and is not asked twice: a command that came in between would be missed.
        let tunnel = self.tunnel.as_ref().map_or(inbox.as_fd(), OwnedFd::as_fd);
        let mut waiting = [waiting(self.ports.0.as_fd()), waiting(inbox.as_fd()), waiting(tunnel)];
        let asked = if self.tunnel.is_some() { 3 } else { 2 };
        let longest = TimeSpec::from_duration(Duration::from_nanos(length_ns));
        let ready = match ppoll(&mut waiting[..asked], Some(longest), None) {
            // A signal has the same effect as a frame: the caller checks everything and sleeps again.
            Err(Errno::EINTR) => return Ok(Woken { by_itself: false, by_command: false }),
            ready => ready?,
        };
        Ok(Woken { by_itself: ready == 0, by_command: waiting[1].any().unwrap_or(true) })
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Instant;

    use super::*;
    use crate::commands::{commands, Command};

    #[test]
    fn a_sleep_ends_with_a_frame_with_a_command_and_by_itself() {
        let sockets: Vec<_> = (0..3).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let (commands, inbox) = commands().unwrap();
        let sleeper = Sleeper::new(sockets.iter().map(|socket| [socket.as_fd()])).unwrap();
        let (frame, command, none) = (
            Woken { by_itself: false, by_command: false },
            Woken { by_itself: false, by_command: true },
            Woken { by_itself: true, by_command: false },
        );
        let began = Instant::now();
        assert_eq!(sleeper.sleep(1_500_000, &inbox).unwrap(), none);
        assert!(began.elapsed() >= Duration::from_nanos(1_500_000), "longer than a millisecond");
        for round in 0..2 {
            sockets[0].send_to(b"frame", sockets[round + 1].local_addr().unwrap()).unwrap();
            assert_eq!(sleeper.sleep(10_000_000_000, &inbox).unwrap(), frame);
            // While the frame is unread, it ends every sleep.
            assert_eq!(sleeper.sleep(10_000_000_000, &inbox).unwrap(), frame);
            sockets[round + 1].recv(&mut [0; 8]).unwrap();
            assert_eq!(sleeper.sleep(0, &inbox).unwrap(), none);
            assert!(commands.send(Command::Stop));
            assert_eq!(sleeper.sleep(10_000_000_000, &inbox).unwrap(), command);
            assert!(inbox.rung(true));
            assert_eq!(sleeper.sleep(0, &inbox).unwrap(), none);
        }
    }

    #[test]
    fn with_many_ports_the_kernel_lists_those_with_frames_and_with_few_all_are_checked() {
        let sockets: Vec<_> = (0..=LOOKED_AT_MAX).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let mut ready = vec![7];
        let all = || sockets.iter().map(|socket| [socket.as_fd()]);
        assert!(!Sleeper::new(all().skip(1)).unwrap().name_ready(&mut ready));
        let mut sleeper = Sleeper::new(all()).unwrap();
        assert!(sleeper.name_ready(&mut ready) && ready.is_empty());
        for to in [60, 3] {
            sockets[0].send_to(b"frame", sockets[to].local_addr().unwrap()).unwrap();
        }
        for _ in 0..2 {
            assert!(sleeper.name_ready(&mut ready));
            ready.sort_unstable();
            assert_eq!(ready, [3, 60], "while they have frames");
        }
        sockets[3].recv(&mut [0; 8]).unwrap();
        assert!(sleeper.name_ready(&mut ready));
        assert_eq!(ready, [60]);
    }
}
