//! The addresses of nodes, and of the switch that they send to (docs/reference/contracts.md). They stand for the fabric's numbers.

use std::net::IpAddr;

/// Nodes send IPv4 packets here, whomever they are for; every other frame goes to its receiver's own address.
pub const SWITCH_MAC: [u8; 6] = [2, 0x77, 0, 0, 0, 0];

/// The node whose address this is: 02:77:00:00 and the node's number from 1 (docs/reference/contracts.md).
pub fn node_of(mac: [u8; 6]) -> Option<usize> {
    let [2, 0x77, 0, 0, high, low] = mac else {
        return None;
    };
    usize::from(u16::from_be_bytes([high, low])).checked_sub(1)
}

/// The node with this destination address: 10.77.0.0 and the node's number from 1.
pub fn node_behind(addresses: Option<(IpAddr, IpAddr)>) -> Option<usize> {
    let Some((_, IpAddr::V4(destination))) = addresses else {
        return None;
    };
    let [10, 77, high, low] = destination.octets() else {
        return None;
    };
    usize::from(u16::from_be_bytes([high, low])).checked_sub(1)
}

/// The inverse of [`node_of`]; a fabric has fewer than 65 535 nodes.
pub fn mac_of(node: usize) -> [u8; 6] {
    let [high, low] = (node as u16 + 1).to_be_bytes();
    [2, 0x77, 0, 0, high, low]
}
