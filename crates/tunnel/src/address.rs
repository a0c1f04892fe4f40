//! Where datagrams of a machine arrive: at an address of UDP, or at one of Ethernet.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use serde::Deserialize;

/// The address of an Ethernet interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareAddress(pub [u8; 6]);

impl HardwareAddress {
    /// Whether it is that of one interface, and not of several or of none.
    pub fn is_of_one(&self) -> bool {
        // The lowest bit of the first byte marks a group (IEEE 802-2014, 8.2.2).
        self.0[0] & 1 == 0 && self.0 != [0; 6]
    }
}

impl fmt::Display for HardwareAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(formatter, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
    }
}

impl FromStr for HardwareAddress {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut bytes = [0; 6];
        let mut words = text.split(':');
        for byte in &mut bytes {
            let digits = |word: &&str| word.len() == 2 && word.bytes().all(|it| it.is_ascii_hexdigit());
            let word = words.next().filter(digits).ok_or(())?;
            *byte = u8::from_str_radix(word, 16).map_err(drop)?;
        }
        words.next().is_none().then_some(Self(bytes)).ok_or(())
    }
}

/// An address in the network that carries datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Address {
    /// Of UDP.
    Udp(SocketAddr),
    /// Of an interface in the same layer-2 network.
    Native(HardwareAddress),
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Udp(address)
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(address) => address.fmt(formatter),
            Self::Native(address) => address.fmt(formatter),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(Self::Udp(address));
        }
        let address = text.parse().map_err(|()| {
            format!("{text:?} is no address; write IP:PORT, or one of Ethernet such as 02:00:00:00:00:01")
        })?;
        Ok(Self::Native(address))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_kinds_are_read() {
        assert_eq!("10.0.0.7:9".parse(), Ok(Address::Udp("10.0.0.7:9".parse().unwrap())));
        assert_eq!("[fd00::1]:9".parse(), Ok(Address::Udp("[fd00::1]:9".parse().unwrap())));
        let hardware = HardwareAddress([2, 0, 0, 0, 0xab, 1]);
        assert_eq!("02:00:00:00:ab:01".parse(), Ok(Address::Native(hardware)));
        for wrong in
            ["", "10.0.0.7", "02:00:00:00:ab", "02:00:00:00:ab:01:02", "2:0:0:0:0:1", "02:00:00:00:ab:+1"]
        {
            assert!(wrong.parse::<Address>().unwrap_err().contains("write IP:PORT"), "{wrong}");
        }
    }

    #[test]
    fn groups_and_nobody_are_not_one_interface() {
        assert!(HardwareAddress([2, 0, 0, 0, 0, 1]).is_of_one());
        for wrong in [[0; 6], [0xff; 6], [1, 0, 0x5e, 0, 0, 1]] {
            assert!(!HardwareAddress(wrong).is_of_one());
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes: [u8; 6]) {
            prop_assert_eq!(HardwareAddress(bytes).to_string().parse(), Ok(HardwareAddress(bytes)));
        }
    }
}
