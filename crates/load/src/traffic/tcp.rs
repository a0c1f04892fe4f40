//! Options and state of a TCP connection that the standard library does not offer.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// What the kernel knows about a connection as a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Segments sent again, of the connection's whole life.
    pub retransmits: u32,
    /// The smoothed round-trip time.
    pub rtt_us: u32,
}

/// Reads what the kernel knows.
pub fn info(connection: &TcpStream) -> io::Result<Info> {
    // SAFETY: all-zero is a valid tcp_info.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `info` is as long as `length` says, and the kernel writes at most that much.
    let result = unsafe {
        libc::getsockopt(
            connection.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Info { retransmits: info.tcpi_total_retrans, rtt_us: info.tcpi_rtt })
}

/// Sets the congestion control of what this end sends.
pub fn set_congestion_control(connection: &TcpStream, name: &str) -> Result<(), String> {
    // SAFETY: the name lives through the call and its length is passed along.
    let result = unsafe {
        libc::setsockopt(
            connection.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    if result == 0 {
        return Ok(());
    }
    Err(format!(
        "congestion control \"{name}\": {}; sysctl net.ipv4.tcp_allowed_congestion_control lists those that may be used",
        io::Error::last_os_error()
    ))
}

/// Makes closing forget what was not sent yet, instead of sending it behind the end of a run.
pub fn forget_when_closed(connection: &TcpStream) -> io::Result<()> {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the structure lives through the call and its size is passed along.
    let result = unsafe {
        libc::setsockopt(
            connection.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_tells_about_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = info(&connection).unwrap();
        assert_eq!(info.retransmits, 0);
        assert!((1..1_000_000).contains(&info.rtt_us), "{info:?}");
    }

    #[test]
    fn an_unknown_congestion_control_is_refused_with_where_to_look() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        set_congestion_control(&connection, "reno").unwrap(); // always there: it is part of TCP itself
        let refused = set_congestion_control(&connection, "nosuch").unwrap_err();
        assert!(refused.contains("\"nosuch\"") && refused.contains("tcp_allowed"), "{refused}");
    }
}
