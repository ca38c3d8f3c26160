#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One packet for each check on receive, and the counter it must count under.

drops.py DEVICE TARGETS NETNS: sends out of NETNS from 10.0.0.2 and fd00::2 to
10.0.0.1 and fd00::1, where DEVICE is; TARGETS is what vt_victim printed.
10.0.0.9 and 10.0.0.3 are addresses of the receiver's lo and of the sender. See
drops.sh.
"""

import socket
import struct
import sys
import time
import zlib

from counters import Counters, moved
from netns import enter

PORT = 4791
RC, UD = 0x00, 0x60
SEND_ONLY, WRITE_ONLY, READ_REQUEST, ACK = 0x04, 0x0A, 0x0C, 0x11
DETH = struct.pack(">II", 0x11111111, 0x123456)
GSI_DETH = struct.pack(">II", 0x80010000, 1)

passed = failed = 0


def bth(opcode, qpn, psn=0, flags=0, pkey=0xFFFF, byte4=0):
    return struct.pack(">BBHII", opcode, flags, pkey, byte4 << 24 | qpn, psn)


def ipv4(body, source, destination, tos, ttl, options):
    total = 20 + len(options) + 8 + len(body)
    head = struct.pack(">BBHHHBBH4s4s", 0x45 + len(options) // 4, tos, total, 77,
                       0x4000, ttl, 17, 0, socket.inet_aton(source),
                       socket.inet_aton(destination))
    mask = head[:1] + b"\xff" + head[2:8] + b"\xff" + head[9:10] + b"\xff\xff" + head[12:]
    return head + options, mask


def ipv6(body, source, destination, tos, ttl, options):
    head = struct.pack(">IHBB16s16s", 6 << 28 | tos << 20 | 0x12345,
                       len(options) + 8 + len(body), 60 if options else 17, ttl,
                       socket.inet_pton(socket.AF_INET6, source),
                       socket.inet_pton(socket.AF_INET6, destination))
    return head + options, b"\x6f\xff\xff\xff" + head[4:7] + b"\xff" + head[8:]


def packet(body, source="10.0.0.2", destination="10.0.0.1", tos=0, ttl=64,
           options=b"", icrc=True, flip=0, udp_sum=0):
    """body runs from the BTH to the pad; flip: xor into the ICRC"""
    full = body + (b"\0\0\0\0" if icrc else b"")
    make = ipv6 if ":" in source else ipv4
    head, mask = make(full, source, destination, tos, ttl, options)
    udp = struct.pack(">HHHH", 50000, PORT, 8 + len(full), udp_sum)
    if icrc:
        crc = zlib.crc32(b"\xff" * 8 + mask + udp[:6] + b"\xff\xff" + body[:4] +
                         b"\xff" + body[5:])
        full = body + struct.pack("<I", crc ^ flip)
    return head + udp + full


def send(data, destination):
    if ":" in destination:
        with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW) as s:
            s.sendto(data, (destination, 0))
    else:
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as s:
            s.sendto(data, (destination, 0))


def expect(counters, name, what, body, **kw):
    """Three packets must move one counter by three and no other one"""
    global passed, failed
    destination = kw.get("destination", "10.0.0.1")
    before = counters.read()
    for _ in range(3):
        send(packet(body, **kw), destination)
    for _ in range(100):
        time.sleep(0.02)        # counters may be 10 ms old
        if moved(before, counters.read()):
            break
    time.sleep(0.03)
    grown = moved(before, counters.read())
    if grown == {name: 3}:
        passed += 1
    else:
        failed += 1
        print(f"{what}: {name} was to move by 3, and what moved is {grown}")


def main():
    counters = Counters(sys.argv[1], "rx_packets", "rx_drop_")
    enter(sys.argv[3])
    qp, psn = {}, {}
    with open(sys.argv[2], encoding="ascii") as file:
        for line in file:
            word = line.split()
            if word[:1] == ["qp"]:
                # The last of a kind: the first ones have requests out.
                qp[word[1]] = int(word[2])
                psn[word[1]] = int(word[3])
    rc, ud = qp["rc"], qp["ud"]
    v6 = {"source": "fd00::2", "destination": "fd00::1"}
    lo = {"destination": "10.0.0.9"}
    good = bth(RC | SEND_ONLY, rc, psn["rc"]) + b"good"
    dgram = bth(UD | SEND_ONLY, ud) + DETH + b"good"

    def case(name, what, body, **kw):
        expect(counters, name, what, body, **kw)

    bad = "rx_drop_malformed"
    case(bad, "no byte", b"", icrc=False)
    case(bad, "one byte", b"\4", icrc=False)
    case(bad, "half a BTH", good[:6], icrc=False)
    case(bad, "BTH, no ICRC", good[:12], icrc=False)
    case(bad, "BTH, three bytes", good[:15], icrc=False)
    case(bad, "transport version 1", bth(RC | SEND_ONLY, rc, flags=1) + b"good")
    case(bad, "payload of 3, no pad", good[:15])
    case(bad, "payload of 5, pad of 2", bth(RC | SEND_ONLY, rc, flags=0x20) + b"1234567")
    case(bad, "more pad than there is", bth(RC | SEND_ONLY, rc, flags=0x30))
    case(bad, "half a RETH", bth(RC | WRITE_ONLY, rc) + b"12345678")
    case(bad, "half a DETH", bth(UD | SEND_ONLY, ud) + DETH[:4])
    case(bad, "ACK with payload", bth(RC | ACK, rc) + b"AETHmore")
    case(bad, "ACK with pad", bth(RC | ACK, rc, flags=0x10) + b"AETH")
    case(bad, "READ request with payload", bth(RC | READ_REQUEST, rc) + bytes(16) + b"more")
    case(bad, "IPv4 options", good, options=b"\1\1\1\1")
    case(bad, "IPv6 extension header", dgram, options=b"\x11\0\1\4\0\0\0\0", **v6)

    case("rx_drop_opcode", "congestion notification", bth(0x81, rc) + bytes(16))
    case("rx_drop_opcode", "opcode 0xff", bth(0xFF, rc) + b"good")
    case("rx_drop_opcode", "RC resync", bth(0x15, rc) + b"good")
    case("rx_drop_opcode", "datagram for a RC QP", bth(UD | SEND_ONLY, rc) + DETH + b"good")
    case("rx_drop_opcode", "RC packet for a UD QP", bth(RC | SEND_ONLY, ud) + b"good")
    case("rx_drop_opcode", "RC packet for QP1", bth(RC | SEND_ONLY, 1) + b"good")

    for qpn in (0, 2, 16, 0xFFFFFE, 0xFFFFFF):
        case("rx_drop_qpn", f"QPN {qpn:#x}", bth(UD | SEND_ONLY, qpn) + DETH)
    case("rx_drop_qpn", "QP1, not an address of the device",
         bth(UD | SEND_ONLY, 1) + GSI_DETH + bytes(256), **lo)

    case("rx_drop_address", "RC, other source", good, source="10.0.0.3")
    case("rx_drop_address", "RC, other destination", good, **lo)
    case("rx_drop_address", "RC, other family", good, **v6)
    case("rx_drop_address", "UD, not an address of the device", dgram, **lo)

    case("rx_drop_pkey", "RC", bth(RC | SEND_ONLY, rc, pkey=0x1234) + b"good")
    case("rx_drop_pkey", "UD", bth(UD | SEND_ONLY, ud, pkey=0x8000) + DETH + b"good")

    for bit in (0, 7, 8, 31):
        case("rx_drop_icrc", f"bit {bit}", good, flip=1 << bit)
    case("rx_drop_icrc", "IPv6", dgram, flip=1, **v6)
    case("rx_drop_icrc", "nothing but a BTH", bth(RC | SEND_ONLY, rc), flip=1)

    fine = "rx_packets"
    case(fine, "RC", good)
    case(fine, "RC, TOS and TTL", good, tos=0xB9, ttl=3)
    case(fine, "RC, FECN, BECN", bth(RC | SEND_ONLY, rc, psn["rc"], byte4=0xC0) + b"good")
    case(fine, "RC, limited P_Key", bth(RC | SEND_ONLY, rc, pkey=0x7FFF) + b"good")
    case(fine, "RC, no payload", bth(RC | SEND_ONLY, rc))
    case(fine, "RC, odd payload", bth(RC | SEND_ONLY, rc, flags=0x30) + b"1\0\0\0")
    case(fine, "UD", dgram)
    case(fine, "UD, IPv6", dgram, **v6)
    case(fine, "UD, IPv6, class and hop limit", dgram, tos=0xB9, ttl=1, **v6)
    case(fine, "UD, 1024 bytes", dgram + bytes(1020))
    case(fine, "QP1, any P_Key", bth(UD | SEND_ONLY, 1, pkey=0x1234) + GSI_DETH + bytes(256))

    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
