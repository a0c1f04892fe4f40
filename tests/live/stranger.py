"""Somebody without the key, on the wire to a machine: hears its frames, and sends it forged ones.

    stranger.py HEARD OUT TO

Hears what comes in from interface HEARD for the hardware address TO, with the EtherType of the tunnel, and
sends it over interface OUT: again, with a bit of its code changed, cut short, and filled up to the largest
size. Ends with its input, and prints how many frames of each kind have left.
"""

from __future__ import annotations

import json
import select
import socket
import sys

ETHERTYPE = b"\x88\xb5"
HEADER_BYTES = 14
CONTENT_BYTES_MAX = 1500
# From <linux/if_ether.h> and <linux/if_packet.h>.
ETH_P_ALL = 3
PACKET_OUTGOING = 4


def forged(content: bytes, number: int) -> dict[str, bytes]:
    """Return what somebody without the key makes of the content of a frame."""
    changed = bytearray(content)
    # The code is the end of a datagram.
    changed[-1 - number % 8] ^= 1 << number % 8
    return {
        "replayed": content,
        "changed": bytes(changed),
        # A frame without content reaches no socket.
        "truncated": content[: 1 + number % (len(content) - 1)],
        "giant": content + b"\xff" * (CONTENT_BYTES_MAX - len(content)),
    }


def main(heard: str, out: str, to: str) -> None:
    """Send forged frames until the input ends."""
    # Of all types: what comes in from a port of a bridge is not handed to sockets of one type.
    hears = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    hears.bind((heard, ETH_P_ALL))
    sends = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sends.bind((out, 0))
    # With its own address: with that of a machine, a switch would send that machine's frames here, ssh's too.
    target, own = bytes.fromhex(to.replace(":", "")), sends.getsockname()[4]
    sent = dict.fromkeys(("replayed", "changed", "truncated", "giant"), 0)
    print("ready", flush=True)
    while sys.stdin not in select.select([sys.stdin, hears], [], [])[0]:
        frame, (_, _, direction, *_) = hears.recvfrom(1 << 16)
        if direction == PACKET_OUTGOING or (frame[:6], frame[12:14]) != (target, ETHERTYPE):
            continue
        content = frame[HEADER_BYTES:]
        # One that is as long as can be has no longer one.
        kinds = forged(content, sent["replayed"])
        for kind, forgery in kinds.items():
            if forgery != content or kind == "replayed":
                sends.send(target + own + ETHERTYPE + forgery)
                sent[kind] += 1
    print(json.dumps(sent))


if __name__ == "__main__":
    main(*sys.argv[1:])
