"""Ports of this machine that nothing listens on."""

import socket


def free_ports(count: int) -> list[int]:
    """Return different ports; held all at once, none is given twice."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
