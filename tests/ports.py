"""Ports of this machine that nothing listens on."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Return distinct ports, all held at once so that none is returned twice."""
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        return [held.getsockname()[1] for held in sockets]
