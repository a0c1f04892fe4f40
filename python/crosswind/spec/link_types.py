"""Link types of captures: where the IP header begins behind each, and the names of unsupported ones.

The names are those of the registry. `crates/wire/src/capture_file/link.rs` is the same table.

Source: tcpdump.org/linktypes.html.
"""

from __future__ import annotations

from dataclasses import dataclass

_IPV4, _IPV6 = 0x0800, 0x86DD
_TAGS = (0x8100, 0x88A8)
_PPP_IP = (0x0021, 0x0057)
_HDLC = b"\xff\x03"


@dataclass(frozen=True)
class Typed:
    """A header of `header_bytes`, two of which are the Ethernet type; 802.1Q and 802.1ad tags may follow."""

    header_bytes: int
    type_at: int

    def ip_at(self, frame: bytes) -> tuple[int, bool]:
        """Return where the network header begins, and whether it is IP."""
        at, type_at = self.header_bytes, self.type_at
        while (kind := int.from_bytes(frame[type_at : type_at + 2])) in _TAGS and len(frame) >= at + 4:
            at, type_at = at + 4, at + 2
        return at, kind in (_IPV4, _IPV6)


@dataclass(frozen=True)
class Raw:
    """A header of `header_bytes`; the IP version behind it shows the type."""

    header_bytes: int

    def ip_at(self, frame: bytes) -> tuple[int, bool]:
        """Return where the network header begins, and whether it is IP."""
        return self.header_bytes, True


@dataclass(frozen=True)
class Ppp:
    """PPP (RFC 1661) behind `header_bytes`, with or without the address and control bytes of HDLC."""

    header_bytes: int

    def ip_at(self, frame: bytes) -> tuple[int, bool]:
        """Return where the network header begins, and whether it is IP."""
        at = self.header_bytes + (len(_HDLC) if frame[self.header_bytes :].startswith(_HDLC) else 0)
        return at + 2, int.from_bytes(frame[at : at + 2]) in _PPP_IP


Link = Typed | Raw | Ppp


def link_text(number: int) -> str:
    """Return the number and name of a link type as text."""
    name, _ = LINK_TYPES.get(number, ("unknown", None))
    return f"{number} ({name})"


# BSD systems write 12 and 14 for `RAW`. None: unsupported.
LINK_TYPES: dict[int, tuple[str, Link | None]] = {
    0: ("NULL", Raw(4)),
    1: ("ETHERNET", Typed(14, 12)),
    2: ("EXP_ETHERNET", None),
    3: ("AX25", None),
    4: ("PRONET", None),
    5: ("CHAOS", None),
    6: ("IEEE802_5", None),
    7: ("ARCNET_BSD", None),
    8: ("SLIP", Raw(16)),
    9: ("PPP", Ppp(0)),
    10: ("FDDI", None),
    12: ("RAW", Raw(0)),
    14: ("RAW", Raw(0)),
    50: ("PPP_HDLC", Ppp(0)),
    51: ("PPP_ETHER", Ppp(6)),
    99: ("SYMANTEC_FIREWALL", None),
    100: ("ATM_RFC1483", None),
    101: ("RAW", Raw(0)),
    102: ("SLIP_BSDOS", None),
    103: ("PPP_BSDOS", None),
    104: ("C_HDLC", Typed(4, 2)),
    105: ("IEEE802_11", None),
    106: ("ATM_CLIP", None),
    107: ("FRELAY", None),
    108: ("LOOP", Raw(4)),
    109: ("ENC", Raw(12)),
    110: ("LANE8023", None),
    111: ("HIPPI", None),
    112: ("NETBSD_HDLC", None),
    113: ("LINUX_SLL", Typed(16, 14)),
    114: ("LTALK", None),
    115: ("ECONET", None),
    116: ("IPFILTER", None),
    117: ("PFLOG", None),
    118: ("CISCO_IOS", None),
    119: ("IEEE802_11_PRISM", None),
    120: ("IEEE802_11_AIRONET", None),
    121: ("HHDLC", None),
    122: ("IP_OVER_FC", None),
    123: ("SUNATM", None),
    124: ("RIO", None),
    125: ("PCI_EXP", None),
    126: ("AURORA", None),
    127: ("IEEE802_11_RADIOTAP", None),
    128: ("TZSP", None),
    129: ("ARCNET_LINUX", None),
    130: ("JUNIPER_MLPPP", None),
    131: ("JUNIPER_MLFR", None),
    132: ("JUNIPER_ES", None),
    133: ("JUNIPER_GGSN", None),
    134: ("JUNIPER_MFR", None),
    135: ("JUNIPER_ATM2", None),
    136: ("JUNIPER_SERVICES", None),
    137: ("JUNIPER_ATM1", None),
    138: ("APPLE_IP_OVER_IEEE1394", Typed(18, 16)),
    139: ("MTP2_WITH_PHDR", None),
    140: ("MTP2", None),
    141: ("MTP3", None),
    142: ("SCCP", None),
    143: ("DOCSIS", None),
    144: ("LINUX_IRDA", None),
    145: ("IBM_SP", None),
    146: ("IBM_SN", None),
    147: ("USER0", None),
    148: ("USER1", None),
    149: ("USER2", None),
    150: ("USER3", None),
    151: ("USER4", None),
    152: ("USER5", None),
    153: ("USER6", None),
    154: ("USER7", None),
    155: ("USER8", None),
    156: ("USER9", None),
    157: ("USER10", None),
    158: ("USER11", None),
    159: ("USER12", None),
    160: ("USER13", None),
    161: ("USER14", None),
    162: ("USER15", None),
    163: ("IEEE802_11_AVS", None),
    164: ("JUNIPER_MONITOR", None),
    165: ("BACNET_MS_TP", None),
    166: ("PPP_PPPD", None),
    167: ("JUNIPER_PPPOE", None),
    168: ("JUNIPER_PPPOE_ATM", None),
    169: ("GPRS_LLC", None),
    170: ("GPF_T", None),
    171: ("GPF_F", None),
    172: ("GCOM_T1E1", None),
    173: ("GCOM_SERIAL", None),
    174: ("JUNIPER_PIC_PEER", None),
    175: ("ERF_ETH", None),
    176: ("ERF_POS", None),
    177: ("LINUX_LAPD", None),
    178: ("JUNIPER_ETHER", None),
    179: ("JUNIPER_PPP", None),
    180: ("JUNIPER_FRELAY", None),
    181: ("JUNIPER_CHDLC", None),
    182: ("MFR", None),
    183: ("JUNIPER_VP", None),
    184: ("A429", None),
    185: ("A653_ICM", None),
    186: ("USB_FREEBSD", None),
    187: ("BLUETOOTH_HCI_H4", None),
    188: ("IEEE802_16_MAC_CPS", None),
    189: ("USB_LINUX", None),
    190: ("CAN20B", None),
    191: ("IEEE802_15_4_LINUX", None),
    192: ("PPI", None),
    193: ("IEEE802_16_MAC_CPS_RADIO", None),
    194: ("JUNIPER_ISM", None),
    195: ("IEEE802_15_4_WITHFCS", None),
    196: ("SITA", None),
    197: ("ERF", None),
    198: ("RAIF1", None),
    199: ("IPMB_KONTRON", None),
    200: ("JUNIPER_ST", None),
    201: ("BLUETOOTH_HCI_H4_WITH_PHDR", None),
    202: ("AX25_KISS", None),
    203: ("LAPD", None),
    204: ("PPP_WITH_DIR", None),
    205: ("C_HDLC_WITH_DIR", None),
    206: ("FRELAY_WITH_DIR", None),
    207: ("LAPB_WITH_DIR", None),
    209: ("I2C_LINUX", None),
    210: ("FLEXRAY", None),
    211: ("MOST", None),
    212: ("LIN", None),
    213: ("X2E_SERIAL", None),
    214: ("X2E_XORAYA", None),
    215: ("IEEE802_15_4_NONASK_PHY", None),
    216: ("LINUX_EVDEV", None),
    217: ("GSMTAP_UM", None),
    218: ("GSMTAP_ABIS", None),
    219: ("MPLS", None),
    220: ("USB_LINUX_MMAPPED", None),
    221: ("DECT", None),
    222: ("AOS", None),
    223: ("WIHART", None),
    224: ("FC_2", None),
    225: ("FC_2_WITH_FRAME_DELIMS", None),
    226: ("IPNET", None),
    227: ("CAN_SOCKETCAN", None),
    228: ("IPV4", Raw(0)),
    229: ("IPV6", Raw(0)),
    230: ("IEEE802_15_4_NOFCS", None),
    231: ("DBUS", None),
    232: ("JUNIPER_VS", None),
    233: ("JUNIPER_SRX_E2E", None),
    234: ("JUNIPER_FIBRECHANNEL", None),
    235: ("DVB_CI", None),
    236: ("MUX27010", None),
    237: ("STANAG_5066_D_PDU", None),
    238: ("JUNIPER_ATM_CEMIC", None),
    239: ("NFLOG", None),
    240: ("NETANALYZER", None),
    241: ("NETANALYZER_TRANSPARENT", None),
    242: ("IPOIB", Typed(44, 40)),
    243: ("MPEG_2_TS", None),
    244: ("NG40", None),
    245: ("NFC_LLCP", None),
    246: ("PFSYNC", None),
    247: ("INFINIBAND", None),
    248: ("SCTP", None),
    249: ("USBPCAP", None),
    250: ("RTAC_SERIAL", None),
    251: ("BLUETOOTH_LE_LL", None),
    252: ("WIRESHARK_UPPER_PDU", None),
    253: ("NETLINK", None),
    254: ("BLUETOOTH_LINUX_MONITOR", None),
    255: ("BLUETOOTH_BREDR_BB", None),
    256: ("BLUETOOTH_LE_LL_WITH_PHDR", None),
    257: ("PROFIBUS_DL", None),
    258: ("PKTAP", None),
    259: ("EPON", None),
    260: ("IPMI_HPM_2", None),
    261: ("ZWAVE_R1_R2", None),
    262: ("ZWAVE_R3", None),
    263: ("WATTSTOPPER_DLM", None),
    264: ("ISO_14443", None),
    265: ("RDS", None),
    266: ("USB_DARWIN", None),
    267: ("OPENFLOW", None),
    268: ("SDLC", None),
    269: ("TI_LLN_SNIFFER", None),
    270: ("LORATAP", None),
    271: ("VSOCK", None),
    272: ("NORDIC_BLE", None),
    273: ("DOCSIS31_XRA31", None),
    274: ("ETHERNET_MPACKET", None),
    275: ("DISPLAYPORT_AUX", None),
    276: ("LINUX_SLL2", Typed(20, 0)),
    277: ("SERCOS_MONITOR", None),
    278: ("OPENVIZSLA", None),
    279: ("EBHSCR", None),
    280: ("VPP_DISPATCH", None),
    281: ("DSA_TAG_BRCM", None),
    282: ("DSA_TAG_BRCM_PREPEND", None),
    283: ("IEEE802_15_4_TAP", None),
    284: ("DSA_TAG_DSA", None),
    285: ("DSA_TAG_EDSA", None),
    286: ("ELEE", None),
    287: ("Z_WAVE_SERIAL", None),
    288: ("USB_2_0", None),
    289: ("ATSC_ALP", None),
    290: ("ETW", None),
    291: ("NETANALYZER_NG", None),
    292: ("ZBOSS_NCP", None),
    293: ("USB_2_0_LOW_SPEED", None),
    294: ("USB_2_0_FULL_SPEED", None),
    295: ("USB_2_0_HIGH_SPEED", None),
    296: ("AUERSWALD_LOG", None),
    297: ("ZWAVE_TAP", None),
    298: ("SILABS_DEBUG_CHANNEL", None),
    299: ("FIRA_UCI", None),
    300: ("MDB", None),
    301: ("DECT_NR", None),
    302: ("EDK2_MM", None),
    303: ("DEBUG_ONLY", None),
    304: ("DECT_NR_TAP", None),
}
