//! Addresses of nodes: position `i` in the fabric has 10.77.0.0/16 + i + 1 and 02:77:00:00 followed by i + 1. In an
//! overlay it has 10.78.0.0/16 + i + 1 and 02:78:00:00 followed by i + 1 as well.
//!
//! Both follow from the position alone, so every node knows the addresses of all others without an exchange.

use std::net::Ipv4Addr;

/// The network that all nodes share.
pub const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 0);
/// Its prefix length, bits.
pub const PREFIX_BITS: u8 = 16;

/// The next hop for all other nodes: the switch, which forwards by the IP address inside. Link-local, outside of
/// [`NETWORK`].
pub const SWITCH: Ipv4Addr = Ipv4Addr::new(169, 254, 77, 1);
/// Its Ethernet address, which would belong to a node 0. No node has that number.
pub const SWITCH_MAC: [u8; 6] = [0x02, 0x77, 0, 0, 0, 0];

/// The IPv4 address of the node at `position`.
pub fn ip(position: u16) -> Ipv4Addr {
    let [high, low] = number(position);
    Ipv4Addr::new(10, 77, high, low)
}

/// The Ethernet address of the node at `position`: locally administered, unicast.
pub fn mac(position: u16) -> [u8; 6] {
    let [high, low] = number(position);
    [0x02, 0x77, 0, 0, high, low]
}

/// The network of the overlay, where nodes have one.
pub const OVERLAY: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 0);

/// The IPv4 address of the node at `position` in the overlay.
pub fn overlay_ip(position: u16) -> Ipv4Addr {
    let [high, low] = number(position);
    Ipv4Addr::new(10, 78, high, low)
}

/// The Ethernet address of the node at `position` in the overlay.
pub fn overlay_mac(position: u16) -> [u8; 6] {
    let [high, low] = number(position);
    [0x02, 0x78, 0, 0, high, low]
}

/// Counted from 1, because 10.77.0.0 is the network itself. A checked fabric stays below 65 534 nodes.
fn number(position: u16) -> [u8; 2] {
    (position + 1).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_the_position() {
        assert_eq!(ip(0), Ipv4Addr::new(10, 77, 0, 1));
        assert_eq!(ip(254), Ipv4Addr::new(10, 77, 0, 255));
        assert_eq!(ip(255), Ipv4Addr::new(10, 77, 1, 0));
        assert_eq!(ip(65_533), Ipv4Addr::new(10, 77, 255, 254));
        assert_eq!(mac(0), [0x02, 0x77, 0, 0, 0, 1]);
        assert_eq!(mac(299), [0x02, 0x77, 0, 0, 1, 44]);
        assert_eq!(overlay_ip(299), Ipv4Addr::new(10, 78, 1, 44));
        assert_eq!(overlay_mac(299), [0x02, 0x78, 0, 0, 1, 44]);
    }

    #[test]
    fn every_address_is_unique_and_inside_the_network() {
        let addresses: std::collections::HashSet<_> = (0..65_534).map(ip).collect();
        assert_eq!(addresses.len(), 65_534);
        let mask = u32::MAX << (32 - PREFIX_BITS);
        assert!(addresses.iter().all(|address| u32::from(*address) & mask == u32::from(NETWORK)));
        assert!(!addresses.contains(&NETWORK));
    }
}
