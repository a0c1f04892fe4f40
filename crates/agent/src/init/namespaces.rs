//! The namespaces of a node: its own network, mounts, host name and System V objects.
//!
//! Mounts are private, so nothing propagates to the host. The file system is the host's, except for /proc, /dev/shm,
//! /etc/hosts and /etc/hostname. Every missing precondition is a `preflight` failure.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::sched::{unshare, CloneFlags};
use nix::unistd::sethostname;

use crate::account::Account;
use crate::channel::Connect;
use crate::failure::Failure;
use crate::link::{self, TcpMetrics};
use crate::netlink::Netlink;
use crate::offloads;
use crate::overlay;

use super::timers;

/// Makes the namespaces and everything in them that does not need `eth0`.
///
/// The IPC namespace exists because a killed database would otherwise leave shared memory on the host.
pub fn prepare(hostname: &str, files: Vec<OwnedFd>, application: Account) -> Result<(), Failure> {
    let own = CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWIPC;
    unshare(own).or_refuse("make its namespaces", "see `sysctl user` for the limits on namespaces")?;
    sethostname(hostname).or_refuse("set its host name", "it needs CAP_SYS_ADMIN in its user namespace")?;
    mount_own(hostname, files)?;
    sysctls(application)?;
    let mut netlink = Netlink::open().or_refuse("open a netlink socket", "the kernel needs CONFIG_NET")?;
    netlink
        .request([link::loopback_up()])
        .or_refuse("bring lo up", "it needs CAP_NET_ADMIN in its user namespace")
}

fn mount_own(hostname: &str, files: Vec<OwnedFd>) -> Result<(), Failure> {
    let remedy = "a container or a security module forbids mounts; run outside it, or allow them";
    change_propagation().or_refuse("make mounts private", remedy)?;
    // The files are written into a tmpfs over /proc. /proc is replaced next, and the tmpfs is detached again.
    tmpfs("/proc", "mode=0755").or_refuse("mount a tmpfs", remedy)?;
    let hosts = files
        .into_iter()
        .next()
        .ok_or_else(|| Failure::internal("the order to prepare has no text for /etc/hosts attached"))?;
    cover(
        "hosts",
        &whole(&File::from(hosts))
            .or_refuse("read the names of nodes", "memory is short; use fewer nodes")?,
    )
    .or_refuse("bind a file over /etc/hosts", "names of nodes are resolved there; create an empty one")?;
    if Path::new("/etc/hostname").exists() {
        cover("hostname", format!("{hostname}\n").as_bytes())
            .or_refuse("bind a file over /etc/hostname", remedy)?;
    }
    umount2("/proc", MntFlags::MNT_DETACH).or_refuse("detach a tmpfs", remedy)?;
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), safe, None::<&str>).or_refuse(
        "mount /proc",
        "a container that hides parts of /proc forbids new ones; run as root or outside it",
    )?;
    if Path::new("/dev/shm").is_dir() {
        tmpfs("/dev/shm", "mode=1777").or_refuse("mount /dev/shm", remedy)?;
    }
    Ok(())
}

fn change_propagation() -> nix::Result<()> {
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
}

fn tmpfs(at: &str, options: &str) -> nix::Result<()> {
    mount(Some("tmpfs"), at, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some(options))
}

/// The whole content of a file whose position is shared with the other inits.
fn whole(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; file.metadata()?.len() as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Writes a file into the tmpfs over /proc and binds it over the file of the same name in /etc.
fn cover(name: &str, text: &[u8]) -> io::Result<()> {
    let source = format!("/proc/{name}");
    fs::write(&source, text)?;
    mount(
        Some(source.as_str()),
        format!("/etc/{name}").as_str(),
        None::<&str>,
        MsFlags::MS_BIND,
        None::<&str>,
    )?;
    Ok(())
}

/// Allows an unprivileged application to listen on any port and to ping, as root could on a host: its network is its
/// own.
fn sysctls(application: Account) -> Result<(), Failure> {
    let gid = application.gid;
    let settings =
        [("ip_unprivileged_port_start", "0".to_owned()), ("ping_group_range", format!("{gid} {gid}"))];
    for (name, value) in settings {
        fs::write(format!("/proc/sys/net/ipv4/{name}"), value).or_refuse(
            &format!("set net.ipv4.{name}"),
            "/proc/sys must be writable; see whether a container makes it read-only",
        )?;
    }
    link::disable_ipv6().or_refuse("set net.ipv6.conf.default.disable_ipv6", "/proc/sys must be writable")
}

/// Gives `eth0` its address, its route and its neighbours.
pub fn connect(connect: &Connect) -> Result<(), Failure> {
    let position = connect.position;
    if let Some(bytes) = connect.socket_buffer_bytes {
        socket_buffers(bytes)?;
    }
    timers::lengthen(connect.slower)?;
    offloads::restrict(link::ETH0, connect.offloads)
        .or_refuse("switch off offloads on eth0", "it needs CAP_NET_ADMIN in its user namespace")?;
    let mut netlink = Netlink::open().or_refuse("open a netlink socket", "the kernel needs CONFIG_NET")?;
    netlink
        .request([link::eth0_up(), link::settle_eth0(), link::address(position)])
        .or_refuse("bring eth0 up and give it its address", "it needs CAP_NET_ADMIN in its user namespace")?;
    let tcp = TcpMetrics {
        congestion_control: &connect.congestion_control,
        rto_min_ms: connect.rto_min_ms,
        ecn: connect.ecn,
    };
    netlink
        .request([link::route(position, tcp)])
        .map_err(|error| route_refused(&connect.congestion_control, &error))?;
    netlink.request([link::switch()]).or_refuse(
        "set eth0's neighbour entry of the switch",
        "the kernel is short of memory; use fewer nodes",
    )?;
    let Some(order) = connect.overlay else { return Ok(()) };
    netlink
        .request([overlay::device(position, order.mtu_bytes)])
        .or_refuse("make its VXLAN device", "the kernel needs CONFIG_VXLAN (modprobe vxlan)")?;
    netlink.request(overlay::addresses(position, order.nodes, tcp)).or_refuse(
        "give its VXLAN device addresses and peers",
        "the kernel is short of memory; use fewer nodes",
    )
}

/// Sets the maximum buffer of a connection's socket in each direction. The initial size stays, or becomes the maximum
/// where that is smaller.
fn socket_buffers(most: u32) -> Result<(), Failure> {
    for name in ["tcp_rmem", "tcp_wmem"] {
        let path = format!("/proc/sys/net/ipv4/{name}");
        let remedy = "/proc/sys must be writable; leave tcp.socket_buffer out to use the machine's values";
        let now = fs::read_to_string(&path).or_refuse(&format!("read net.ipv4.{name}"), remedy)?;
        let bounded: Vec<_> = now
            .split_whitespace()
            .take(2)
            .filter_map(|bytes| bytes.parse::<u32>().ok())
            .map(|bytes| bytes.min(most).to_string())
            .collect();
        fs::write(&path, format!("{} {most}", bounded.join(" ")))
            .or_refuse(&format!("set net.ipv4.{name}"), remedy)?;
    }
    Ok(())
}

/// The kernel answers an unknown congestion control with a plain "invalid argument"; this lists the known ones.
fn route_refused(congestion_control: &str, error: &io::Error) -> Failure {
    let available =
        fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let available: Vec<_> = available.split_whitespace().collect();
    if error.raw_os_error() == Some(libc::EINVAL) && !available.contains(&congestion_control) {
        return Failure::preflight(format!(
            "tcp: congestion control {congestion_control:?}: this kernel has {}; use one of them, or load its module (modprobe tcp_{congestion_control})",
            available.join(", ")
        ));
    }
    Failure::preflight(format!(
        "add the route between nodes with congestion control {congestion_control:?}: {error}"
    ))
}

/// Turns an error of the system into a `preflight` failure that names the step and the remedy.
pub(super) trait OrRefuse<T> {
    fn or_refuse(self, what: &str, remedy: &str) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> OrRefuse<T> for Result<T, E> {
    fn or_refuse(self, what: &str, remedy: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::preflight(format!("{what}: {}; {remedy}", error.into())))
    }
}
