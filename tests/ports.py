"""Ports of this machine that nothing listens on."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Return different ports; held all at once, none is given twice."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in held]
