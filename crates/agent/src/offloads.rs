//! Prevents super-packets on a device: inside tunnels (VXLAN, GRE and similar ones are cut before it), or all.
//!
//! A super-packet that an application's tunnel has wrapped cannot cross to the emulator. The description of a
//! super-packet on a packet socket (`virtio_net_hdr`) covers TCP and UDP segments, but not those inside a tunnel.
//! Frames larger than the MTU would arrive, and nothing could cut them (over VXLAN, TCP got 0.4 Mbit/s of 1 Gbit/s).
//! Super-packets without a tunnel stay whole.
//!
//! Open vSwitch's user-space datapath reads frames without such a description, so it would pass on super-packets that
//! nothing cuts and checksums that nobody fills in. There every frame leaves the node complete.
//!
//! Source: Linux, include/uapi/linux/ethtool.h (`ETHTOOL_GSSET_INFO`, `ETHTOOL_GSTRINGS`, `ETHTOOL_SFEATURES`).

use std::ffi::{c_char, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};
use serde::{Deserialize, Serialize};

const SIOCETHTOOL: c_ulong = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
/// Bytes of a name, padded with zeros.
const NAME_BYTES: usize = 32;

/// Prefixes of the names of features of tunnels, as `ethtool -k` shows them; each name ends in `segmentation`.
const TUNNELS: [&str; 3] = ["tx-udp_tnl-", "tx-gre-", "tx-ipxip"];

/// Which offloads a device keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Offloads {
    /// All but segmentation inside tunnels.
    OutsideTunnels,
    /// Neither segmentation nor checksums.
    None,
}

impl Offloads {
    /// Whether a feature of this name has to be off.
    fn forbid(self, name: &str) -> bool {
        let segments = name.starts_with("tx-") && name.ends_with("segmentation");
        match self {
            Self::OutsideTunnels => segments && TUNNELS.iter().any(|tunnel| name.starts_with(tunnel)),
            Self::None => segments || name.starts_with("tx-checksum-"),
        }
    }
}

/// Switches the other features off for a device of this network namespace.
pub fn restrict(device: &str, to: Offloads) -> io::Result<()> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let features = count(&socket, device)?;
    let bits = forbidden(&names(&socket, device, features)?, to);
    let mut request = vec![ETHTOOL_SFEATURES, features.div_ceil(32)];
    // Valid, requested: a feature that is valid and not requested is switched off.
    request.extend((0..features.div_ceil(32)).flat_map(|block| [word(&bits, block), 0]));
    ask(&socket, device, &mut request)
}

fn count(socket: &OwnedFd, device: &str) -> io::Result<u32> {
    // Reserved; a mask of 64 bits; the reply.
    let mut request = [ETHTOOL_GSSET_INFO, 0, 0, 0, 0];
    let mask = u64::from(1u32 << ETH_SS_FEATURES).to_ne_bytes();
    request[2] = u32::from_ne_bytes([mask[0], mask[1], mask[2], mask[3]]);
    request[3] = u32::from_ne_bytes([mask[4], mask[5], mask[6], mask[7]]);
    ask(socket, device, &mut request)?;
    Ok(request[4])
}

/// All names in sequence.
fn names(socket: &OwnedFd, device: &str, features: u32) -> io::Result<Vec<u8>> {
    let mut request = vec![0; 3 + features as usize * NAME_BYTES / size_of::<u32>()];
    request[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, ETH_SS_FEATURES, features]);
    ask(socket, device, &mut request)?;
    Ok(request[3..].iter().flat_map(|word| word.to_ne_bytes()).collect())
}

/// Positions of the features that have to be off.
fn forbidden(names: &[u8], to: Offloads) -> Vec<u32> {
    (0..)
        .zip(names.chunks(NAME_BYTES))
        .filter(|(_, name)| {
            let text = name.split(|&byte| byte == 0).next().unwrap_or_default();
            std::str::from_utf8(text).is_ok_and(|text| to.forbid(text))
        })
        .map(|(bit, _)| bit)
        .collect()
}

fn word(bits: &[u32], block: u32) -> u32 {
    bits.iter().filter(|&&bit| bit / 32 == block).fold(0, |word, bit| word | 1 << (bit % 32))
}

fn ask(socket: &OwnedFd, device: &str, request: &mut [u32]) -> io::Result<()> {
    // SAFETY: all zeros are a valid `ifreq`.
    let mut about: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in about.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as c_char;
    }
    about.ifr_ifru.ifru_data = request.as_mut_ptr().cast();
    // SAFETY: the kernel reads and writes the request only, whose inner lengths match its size.
    Errno::result(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &mut about) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_recognised_by_name() {
        let names: Vec<u8> = [
            "tx-tcp-segmentation",
            "tx-gre-segmentation",
            "tx-gre-csum-segmentation",
            "tx-ipxip4-segmentation",
            "tx-udp_tnl-csum-segmentation",
            "tx-udp-segmentation",
            "rx-udp_tunnel-port-offload",
            "tx-checksum-ip-generic",
            "tx-scatter-gather",
        ]
        .iter()
        .flat_map(|name| {
            let mut padded = [0; NAME_BYTES];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            padded
        })
        .collect();
        assert_eq!(forbidden(&names, Offloads::OutsideTunnels), [1, 2, 3, 4]);
        assert_eq!(forbidden(&names, Offloads::None), [0, 1, 2, 3, 4, 5, 7]);
    }

    #[test]
    fn bits_are_packed_in_words_of_32() {
        assert_eq!(word(&[1, 31, 33], 0), 0x8000_0002);
        assert_eq!(word(&[1, 31, 33], 1), 2);
    }
}
