"""A web server on 127.0.0.1 that misbehaves as told, and the source that tests fetch from it."""

import hashlib
import re
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from analogyqa.sources.registry import Source

BODY = b"".join(b"%07d\n" % number for number in range(50_000))  # several chunks of a download
Behaviour = Callable[[BaseHTTPRequestHandler], None]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def entry(content: bytes, **changes) -> dict:
    """Return the entry of a file in a registry; a change to None leaves a key out."""
    values = {"title": "a test file", "file": "data/file.txt", "licence": "CC0"}
    values |= {"sha256": sha256(content), "bytes": len(content), "citation": "nobody"} | changes
    return {key: value for key, value in values.items() if value is not None}


def source(content: bytes, **changes) -> Source:
    return Source(name="it", **entry(content, **changes))


def sent(body: bytes, code: int = 200, **headers: str | None) -> Behaviour:
    """Send a body; an underscore in a header's name stands for a hyphen, None leaves one out."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            if value is not None:
                handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def status(code: int, **headers: str) -> Behaviour:
    return sent(b"", code, **headers)


def ok(body: bytes, after: int | None = None) -> Behaviour:
    """Send the body, or the part of it that Range asks for, or 416.

    With `after`, close the connection after that many bytes of what was asked for.
    """

    def behave(handler: BaseHTTPRequestHandler) -> None:
        requested = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start, size = int(requested[1]) if requested else 0, len(body)
        if start and start >= size:
            status(416, Content_Range=f"bytes */{size}")(handler)
        else:
            span = f"bytes {start}-{size - 1}/{size}" if start else None
            headers = {"Content_Range": span, "Content_Length": str(size - start)}
            sent(body[start:][:after], 206 if start else 200, **headers)(handler)

    return behave


def dropped(body: bytes, after: int, then: Behaviour = lambda handler: None) -> Behaviour:
    """Announce the whole body, send `after` bytes, then close the connection or call `then`."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        sent(body[:after], Content_Length=str(len(body)))(handler)
        then(handler)

    return behave


def reset(handler: BaseHTTPRequestHandler) -> None:
    """End the connection with a reset."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Send nothing until the client gives up."""
    handler.connection.recv(1)


def chunked(body: bytes, after: int | None = None, end: bytes = b"0\r\n\r\n") -> Behaviour:
    """Send a body in chunks; with `after`, close the connection within a chunk."""
    size = 50_000
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    coded = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end
    return sent(coded[:after], Transfer_Encoding="chunked", Content_Length=None)


@dataclass
class Server:
    """`routes[path]` are the behaviours of successive requests; the last one repeats.

    `otherwise` is what a path without a route gets.
    """

    url: str
    routes: dict[str, list[Behaviour]] = field(default_factory=dict)
    otherwise: Behaviour = field(default_factory=lambda: status(404))
    ranges: list[str | None] = field(default_factory=list)  # the Range of each request so far

    def serve(self, path: str, *behaviours: Behaviour) -> str:
        """Route a path and return its URL."""
        self.routes[path] = list(behaviours)
        return self.url + path


@contextmanager
def running_server() -> Iterator[Server]:
    """Yield a Server on a free port; requests to it use no proxy."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.ranges.append(self.headers.get("Range"))
            behaviours = server.routes.get(self.path, [server.otherwise])
            (behaviours.pop(0) if len(behaviours) > 1 else behaviours[0])(self)

        do_POST = do_GET

        def log_message(self, *_args) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_port}")
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NO_PROXY", "127.0.0.1")
            yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def free_ports(count: int) -> list[int]:
    """Return distinct ports, all held at once so that none is returned twice."""
    with ExitStack() as stack:
        servers = (socket.create_server(("127.0.0.1", 0)) for _ in range(count))
        return [stack.enter_context(server).getsockname()[1] for server in servers]
