//! An overlay: the network that container engines such as Docker put on a network of hosts.
//!
//! A VXLAN device of the kernel in the node's path, with an address of its own. Each packet of the application crosses the
//! network inside a UDP datagram between the nodes, 50 bytes longer, and the MTU inside is as much smaller. All peers are
//! known: a forwarding entry and a neighbour entry for each, as Docker's agents distribute them, so nothing is learnt or
//! resolved.
//!
//! Source: RFC 7348, section 5; Linux, drivers/net/vxlan.

use netlink_packet_core::{NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::link::{InfoData, InfoKind, InfoVxlan, LinkAttribute, LinkInfo, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use serde::{Deserialize, Serialize};

use crate::address;
use crate::link::{self, TcpMetrics};
use crate::netlink::Request;

/// Headers around each packet: Ethernet (14), IPv4 (20), UDP (8) and VXLAN (8).
pub const HEADER_BYTES: u32 = 50;
const NAME: &str = "vxlan0";
/// Index of the device in every node; that of `eth0` is next to it.
const INDEX: u32 = 501;
const NETWORK_ID: u32 = 77;
/// Assigned by IANA.
const PORT: u16 = 4789;

/// The kind of an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlay {
    Vxlan,
}

/// The overlay's device in the node at `position`.
pub fn device(position: u16, mtu_bytes: u32) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = INDEX;
    message.attributes = vec![
        LinkAttribute::IfName(NAME.to_owned()),
        LinkAttribute::Mtu(mtu_bytes - HEADER_BYTES),
        LinkAttribute::Address(address::overlay_mac(position).to_vec()),
        LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Vxlan),
            LinkInfo::Data(InfoData::Vxlan(vec![
                InfoVxlan::Id(NETWORK_ID),
                InfoVxlan::Local(address::ip(position)),
                InfoVxlan::Learning(false),
                InfoVxlan::Port(PORT),
            ])),
        ]),
    ];
    Request { message: RouteNetlinkMessage::NewLink(message), flags: NLM_F_CREATE | NLM_F_EXCL }
}

/// What the device at `position` has besides: its address, the route to all nodes, and an entry for each other node.
pub fn addresses(position: u16, nodes: u16, tcp: TcpMetrics<'_>) -> Vec<Request> {
    let own = address::overlay_ip(position);
    let mut requests = vec![
        link::up(INDEX),
        link::address_of(INDEX, own),
        link::route_of(INDEX, address::OVERLAY, own, tcp),
    ];
    for peer in (0..nodes).filter(|&peer| peer != position) {
        requests.push(link::neighbour_of(INDEX, address::overlay_ip(peer), address::overlay_mac(peer)));
        requests.push(forwarding(peer));
    }
    requests
}

/// Frames to a peer go to its address in the network below.
fn forwarding(peer: u16) -> Request {
    let mut message = NeighbourMessage::default();
    message.header.family = AddressFamily::Bridge;
    message.header.ifindex = INDEX;
    message.header.state = NeighbourState::Permanent;
    message.header.flags = NeighbourFlags::Own;
    message.attributes = vec![
        NeighbourAttribute::LinkLayerAddress(address::overlay_mac(peer).to_vec()),
        NeighbourAttribute::Destination(NeighbourAddress::Inet(address::ip(peer))),
    ];
    Request { message: RouteNetlinkMessage::NewNeighbour(message), flags: NLM_F_CREATE | NLM_F_APPEND }
}
