//! The addresses of nodes, and of the switch that they send to (docs/reference/contracts.md), and the node numbers in
//! them.

use std::net::IpAddr;

/// Nodes send all IPv4 packets to this address, whatever their receiver; every other frame has its receiver's own
/// address.
pub const SWITCH_MAC: [u8; 6] = [2, 0x77, 0, 0, 0, 0];

/// The node whose address this is: 02:77:00:00 and the node's number from 1 (docs/reference/contracts.md).
pub fn node_of(mac: [u8; 6]) -> Option<usize> {
    let [2, 0x77, 0, 0, high, low] = mac else {
        return None;
    };
    usize::from(u16::from_be_bytes([high, low])).checked_sub(1)
}

/// The node with this destination address: 10.77.0.0 and the node's number from 1.
pub fn node_with_ip(addresses: Option<(IpAddr, IpAddr)>) -> Option<usize> {
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
