"""What the kernel takes by itself for nodes: `kernel_nodes.py NUMBER` prints one JSON line.

As many processes, each in a network namespace of its own and joined to this one by a veth pair, with one
request each and nothing else: no mounts, no addresses, no emulator. What nodes take beyond it is ours.
"""

import ctypes
import json
import os
import signal
import socket
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
# linux/rtnetlink.h, linux/if_link.h, linux/netlink.h.
RTM_NEWLINK = 16
REQUEST_ACK_EXCL_CREATE = 0x1 | 0x4 | 0x200 | 0x400
IFLA_IFNAME, IFLA_LINKINFO, IFLA_NET_NS_PID = 3, 18, 19
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
NO_INTERFACE = bytes(16)  # struct ifinfomsg


def main(number: int) -> None:
    """Make `number` nodes, end them, and print the time of both."""
    _own_network()
    began = time.monotonic()
    ready, there = os.pipe()
    children = [_child(there) for _ in range(number)]
    while number > 0:
        number -= len(os.read(ready, number))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        for position, child in enumerate(children):
            kernel.send(_veth_pair(position, child))
            (error,) = struct.unpack_from("i", kernel.recv(65_536), 16)
            if error:
                raise OSError(-error, f"veth pair {position}: {os.strerror(-error)}")
    up = time.monotonic()
    for child in children:
        os.kill(child, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    print(json.dumps({"up_s": up - began, "down_s": time.monotonic() - up}))


def _own_network() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "make a network namespace; it needs root")


def _child(there: int) -> int:
    """Return a process that waits in a new namespace; it writes a byte to `there` when it does."""
    child = os.fork()
    if child == 0:
        _own_network()
        os.write(there, b"x")
        signal.pause()
    return child


def _veth_pair(position: int, process: int) -> bytes:
    peer = _attribute(IFLA_IFNAME, b"eth0\0") + _attribute(IFLA_NET_NS_PID, struct.pack("I", process))
    data = _attribute(VETH_INFO_PEER, NO_INTERFACE + peer)
    info = _attribute(IFLA_INFO_KIND, b"veth") + _attribute(IFLA_INFO_DATA, data)
    name = _attribute(IFLA_IFNAME, f"port{position}\0".encode())
    body = NO_INTERFACE + name + _attribute(IFLA_LINKINFO, info)
    return struct.pack("IHHII", 16 + len(body), RTM_NEWLINK, REQUEST_ACK_EXCL_CREATE, position, 0) + body


def _attribute(kind: int, value: bytes) -> bytes:
    length = 4 + len(value)
    return struct.pack("HH", length, kind) + value + bytes(-length % 4)


if __name__ == "__main__":
    main(int(sys.argv[1]))
