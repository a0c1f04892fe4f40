//! Sockets of a node on which its processes listen, from the kernel's tables: looking disturbs no server.
//!
//! Source: the kernel's Documentation/networking/proc_net_tcp.rst. Addresses are hexadecimal words in the byte order of
//! the machine; the agent is built for little-endian machines only.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::unistd::Pid;
use serde::Serialize;

/// A socket that takes connections, or datagrams from anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Listening {
    pub protocol: Protocol,
    /// Where; unspecified: everywhere.
    pub address: IpAddr,
    pub port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Tcp,
    Udp,
}

impl Protocol {
    /// The state of a socket that listens: TCP_LISTEN, or of an unconnected UDP socket TCP_CLOSE.
    const fn state(self) -> &'static str {
        match self {
            Protocol::Tcp => "0A",
            Protocol::Udp => "07",
        }
    }
}

/// The sockets in the network namespace of a process.
pub fn listening(init: Pid) -> io::Result<Vec<Listening>> {
    let mut found = Vec::new();
    for (protocol, table) in
        [(Protocol::Tcp, "tcp"), (Protocol::Tcp, "tcp6"), (Protocol::Udp, "udp"), (Protocol::Udp, "udp6")]
    {
        match File::open(format!("/proc/{init}/net/{table}")) {
            // Line by line: a node may have a hundred thousand connections.
            Ok(file) => {
                for line in BufReader::new(file).lines() {
                    found.extend(listener(&line?, protocol));
                }
            }
            // This kernel has no IPv6.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The socket in a line of a table, if it listens.
fn listener(line: &str, protocol: Protocol) -> Option<Listening> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (address, port) = fields.next()?.split_once(':')?;
    if fields.nth(1)? != protocol.state() {
        return None;
    }
    Some(Listening { protocol, address: ip(address)?, port: u16::from_str_radix(port, 16).ok()? })
}

fn ip(text: &str) -> Option<IpAddr> {
    let word = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::to_le_bytes);
    match text.len() {
        8 => Some(Ipv4Addr::from(word(text)?).into()),
        32 => {
            let mut bytes = [0; 16];
            for (at, bytes) in bytes.chunks_exact_mut(4).enumerate() {
                bytes.copy_from_slice(&word(text.get(8 * at..8 * at + 8)?)?);
            }
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Linux 6.18 printed them.
    const TCP: &str = include_str!("../tests/captured/proc-net-tcp.txt");
    const UDP: &str = include_str!("../tests/captured/proc-net-udp.txt");

    fn of(table: &str, protocol: Protocol) -> Vec<(String, u16)> {
        let found = table.lines().filter_map(|line| listener(line, protocol));
        found.map(|it| (it.address.to_string(), it.port)).collect()
    }

    #[test]
    fn listeners_are_found_at_their_addresses_and_a_connection_is_none() {
        let found = of(TCP, Protocol::Tcp);
        let expected = [("0.0.0.0", 8081), ("127.0.0.1", 8080), ("::", 8082)];
        assert_eq!(found, expected.map(|(address, port)| (address.to_owned(), port)));
    }

    #[test]
    fn udp_has_listeners_of_its_own() {
        assert_eq!(of(UDP, Protocol::Udp), [("0.0.0.0".to_owned(), 5353)]);
        assert!(of(UDP, Protocol::Tcp).is_empty());
    }

    #[test]
    fn a_table_that_is_cut_off_is_read_as_far_as_it_goes() {
        for length in 0..TCP.len() {
            assert!(of(&TCP[..length], Protocol::Tcp).len() <= 3);
        }
        for damaged in
            ["0: 0100007F", "0: 0100007Z:1F90 x 0A", "0: 01\u{e9}\u{e9}00F:1F90 x 0A", "0: ::: x 0A"]
        {
            assert_eq!(listener(damaged, Protocol::Tcp), None);
        }
    }

    #[test]
    fn an_own_listener_is_found() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = socket.local_addr().unwrap();
        let own = Listening { protocol: Protocol::Tcp, address: at.ip(), port: at.port() };
        assert!(listening(Pid::this()).unwrap().contains(&own));
    }
}
