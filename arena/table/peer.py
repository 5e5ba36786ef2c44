"""Peer: whether another user of this machine is at the other end of a connection."""

from __future__ import annotations

import socket
import struct
from functools import cache
from typing import Final, TypeAlias

Address: TypeAlias = tuple[str, int]

_ROOT: Final = 0
_HERE: Final = "127.0.0.1"
_SOCK_DIAG = 4  # these names are those of linux/sock_diag.h, inet_diag.h and netlink.h
_BY_FAMILY = 20
_REQUEST = 1
_ERROR = 2
_ANY = 0xFFFF_FFFF
_HEAD = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_QUESTION = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_PORTS = struct.Struct("!HH")
_HOST = struct.Struct("4s12x")
_REST = struct.Struct("=III")  # interface, and no cookie
_FACTS = struct.Struct("=4x48xIIIII")  # ..., user, inode
_PATIENCE = 1.0  # seconds; the kernel answers at once


def is_of_stranger(client: Address | None, server: Address | None) -> bool:
    """Return whether a connection of 127.0.0.1 comes from a program of another user.

    The kernel tells it (Linux); where it does not, nobody is a stranger. A program of root's is
    none: it could read everything here anyway. Who has closed his end cannot be known, and is
    one: he could have sent his request just before. It takes 15 us.
    """
    if not kernel_tells():
        return False
    if client is None or server is None:
        return True
    try:
        ours, theirs = find_user(server, client), find_user(client, server)
    except OSError:
        return True
    return ours is None or theirs not in (ours, _ROOT)


@cache
def kernel_tells() -> bool:
    """Return whether the kernel knows who has a connection, of one of our own."""
    try:
        with (
            socket.create_server((_HERE, 0)) as server,
            socket.create_connection(server.getsockname()) as one,
        ):
            return find_user(one.getsockname(), server.getsockname()) is not None
    except OSError:
        return False


def find_user(here: Address, there: Address) -> int | None:
    """Return the user of the TCP socket at one end of a connection, None if there is none.

    One that its program has closed belongs to nobody, and has no inode; the kernel calls it
    root's. It may be a socket of IPv6 that is connected to IPv4. Raises OSError where the kernel
    does not answer. Source: man 7 sock_diag.
    """
    ends = _PORTS.pack(here[1], there[1]) + b"".join(
        _HOST.pack(socket.inet_aton(host)) for host, _ in (here, there)
    )
    question = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ANY) + ends
    question += _REST.pack(0, _ANY, _ANY)
    family = getattr(socket, "AF_NETLINK", socket.AF_UNSPEC)
    with socket.socket(family, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(_PATIENCE)
        kernel.send(_HEAD.pack(_HEAD.size + len(question), _BY_FAMILY, _REQUEST, 0, 0) + question)
        answer = kernel.recv(4096)
    if len(answer) < _HEAD.size + _FACTS.size or _HEAD.unpack_from(answer)[1] == _ERROR:
        return None
    *_, user, inode = _FACTS.unpack_from(answer, _HEAD.size)
    return int(user) if inode else None
