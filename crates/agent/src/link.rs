//! A node's network: a veth pair, an address, one route, and the neighbour entry of the switch.
//!
//! The agent makes the pair from the fabric's namespace, with the far end created inside the node's. Moving a device
//! there afterwards takes four times as long (about 19 ms against 5 on Linux 6.18). Both ends get an index of the
//! agent's choice, in namespaces that contain nothing else, so the index need not be looked up. Checksum and
//! segmentation offloads stay on: the emulator carries super-packets whole, except those inside tunnels
//! (`offloads`).

use std::fs;
use std::io;
use std::net::Ipv4Addr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::address;
use crate::netlink::Request;

/// Index of the fabric's end of the first node's pair. Kernels with tunnel modules put a few devices of their own
/// into every new network namespace; they get the lowest indices.
const PORT_INDEX_FIRST: u32 = 1000;
/// Name of a node's interface.
pub const ETH0: &str = "eth0";
/// Index of `eth0` in every node. It must differ from that of every port: the kernel takes a device whose other end
/// has the same index for a physical one. It then delays changes of its carrier by up to a second.
const ETH0_INDEX: u32 = 500;
/// Index of `lo` in every network namespace.
const LOOPBACK_INDEX: u32 = 1;

/// Number of RTAX_RTO_MIN. Its bit in RTAX_LOCK makes the kernel apply the metric (`tcp_rto_min`), as `ip route` does.
const RTAX_RTO_MIN: u32 = 13;

/// Bit of RTAX_FEATURES: connections over the route request explicit congestion notification, whatever `tcp_ecn` is.
const RTAX_FEATURE_ECN: u32 = 1;

/// Index of the fabric's end of the pair of the node at `position`.
pub fn port_index(position: u16) -> u32 {
    PORT_INDEX_FIRST + u32::from(position)
}

/// A veth pair: a port, up, here or in the network namespace of process `switch`, and `eth0` in that of process `init`,
/// down. The kernel makes the far end first and refuses to bring it up before the near one exists.
pub fn veth_pair(position: u16, init: u32, switch: Option<u32>, mtu_bytes: u32) -> Request {
    let mut eth0 = end(ETH0_INDEX, ETH0.to_owned(), mtu_bytes);
    eth0.attributes.push(LinkAttribute::Address(address::mac(position).to_vec()));
    eth0.attributes.push(LinkAttribute::NetNsPid(init));
    let mut port = end(port_index(position), format!("port{position}"), mtu_bytes);
    set_up(&mut port);
    port.attributes.extend(switch.map(LinkAttribute::NetNsPid));
    port.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(eth0))),
    ]));
    Request { message: RouteNetlinkMessage::NewLink(port), flags: NLM_F_CREATE | NLM_F_EXCL }
}

/// One queue in each direction: the default, a queue per CPU, takes time to make and has no benefit here.
fn end(index: u32, name: String, mtu_bytes: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.attributes = vec![
        LinkAttribute::IfName(name),
        LinkAttribute::Mtu(mtu_bytes),
        LinkAttribute::NumTxQueues(1),
        LinkAttribute::NumRxQueues(1),
    ];
    message
}

/// Brings `lo` up.
pub fn loopback_up() -> Request {
    up(LOOPBACK_INDEX)
}

/// Brings `eth0` up.
pub fn eth0_up() -> Request {
    up(ETH0_INDEX)
}

/// Makes the kernel process a port's carrier before it answers. It would do so soon by itself, but drops packets until
/// then, and a lost first packet costs a connection a second.
pub fn settle_port(position: u16) -> Request {
    settle(port_index(position))
}

/// The same for `eth0`; otherwise applications see it without a carrier.
pub fn settle_eth0() -> Request {
    settle(ETH0_INDEX)
}

fn settle(index: u32) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = index;
    Request { message: RouteNetlinkMessage::GetLink(message), flags: 0 }
}

pub fn up(index: u32) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = index;
    set_up(&mut message);
    Request { message: RouteNetlinkMessage::SetLink(message), flags: 0 }
}

fn set_up(message: &mut LinkMessage) {
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
}

/// The address of the node at `position`, without the route that the kernel would add: the agent's route carries
/// metrics.
pub fn address(position: u16) -> Request {
    address_of(ETH0_INDEX, address::ip(position))
}

/// As [`address()`], of any device.
pub fn address_of(index: u32, ip: Ipv4Addr) -> Request {
    let mut message = AddressMessage::default();
    message.header.family = AddressFamily::Inet;
    message.header.prefix_len = address::PREFIX_BITS;
    message.header.scope = AddressScope::Universe;
    message.header.index = index;
    message.attributes = vec![
        AddressAttribute::Local(ip.into()),
        AddressAttribute::Address(ip.into()),
        AddressAttribute::Flags(AddressFlags::Noprefixroute),
    ];
    Request { message: RouteNetlinkMessage::NewAddress(message), flags: NLM_F_CREATE | NLM_F_EXCL }
}

/// What a route sets for TCP: congestion control, smallest retransmission timeout and use of ECN. A route can set these
/// without root, a sysctl cannot. An application may still choose a congestion control itself.
#[derive(Clone, Copy)]
pub struct TcpMetrics<'a> {
    pub congestion_control: &'a str,
    pub rto_min_ms: u32,
    pub ecn: bool,
}

/// The route to all nodes, through the switch.
pub fn route(position: u16, tcp: TcpMetrics<'_>) -> Request {
    let mut request = route_of(ETH0_INDEX, address::NETWORK, address::ip(position), tcp);
    if let RouteNetlinkMessage::NewRoute(message) = &mut request.message {
        message.header.scope = RouteScope::Universe;
        message.header.flags = RouteFlags::Onlink;
        message.attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(address::SWITCH)));
    }
    request
}

/// The route to a network that begins behind a device.
pub fn route_of(index: u32, network: Ipv4Addr, source: Ipv4Addr, tcp: TcpMetrics<'_>) -> Request {
    let mut metrics = vec![
        RouteMetric::Lock(1 << RTAX_RTO_MIN),
        RouteMetric::RtoMin(tcp.rto_min_ms),
        RouteMetric::CcAlgo(tcp.congestion_control.to_owned()),
    ];
    if tcp.ecn {
        metrics.push(RouteMetric::Features(RTAX_FEATURE_ECN));
    }
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = address::PREFIX_BITS;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = RouteScope::Link;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![
        RouteAttribute::Destination(RouteAddress::Inet(network)),
        RouteAttribute::Oif(index),
        RouteAttribute::PrefSource(RouteAddress::Inet(source)),
        RouteAttribute::Metrics(metrics),
    ];
    Request { message: RouteNetlinkMessage::NewRoute(message), flags: NLM_F_CREATE | NLM_F_EXCL }
}

/// A permanent neighbour entry for the switch. Address resolution would be traffic that no application caused, subject
/// to the condition and at instants of its own. One entry serves all nodes: one per node would be a million entries
/// for a thousand nodes, some hundred bytes each in the kernel.
pub fn switch() -> Request {
    neighbour_of(ETH0_INDEX, address::SWITCH, address::SWITCH_MAC)
}

/// A permanent neighbour entry of a device.
pub fn neighbour_of(index: u32, ip: Ipv4Addr, mac: [u8; 6]) -> Request {
    let mut message = NeighbourMessage::default();
    message.header.family = AddressFamily::Inet;
    message.header.ifindex = index;
    message.header.state = NeighbourState::Permanent;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![
        NeighbourAttribute::Destination(NeighbourAddress::Inet(ip)),
        NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
    ];
    Request { message: RouteNetlinkMessage::NewNeighbour(message), flags: NLM_F_CREATE | NLM_F_REPLACE }
}

/// Switches IPv6 off for devices made from now on in this network namespace. Its autoconfiguration (duplicate address
/// detection, router solicitations, multicast reports) is traffic that no application caused. `lo` retains `::1`.
pub fn disable_ipv6() -> io::Result<()> {
    match fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1") {
        // A kernel without IPv6 sends no such traffic.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}
