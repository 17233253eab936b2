"""A web server on 127.0.0.1 that misbehaves as told, for the tests of downloads."""

import re
import socket
import struct
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

Behaviour = Callable[[BaseHTTPRequestHandler], None]


def ok(body: bytes) -> Behaviour:
    """Send the body, or the part of it that Range asks for, or 416."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        if start and start >= len(body):
            _reply(handler, 416, b"", {"Content-Range": f"bytes */{len(body)}"})
        elif start:
            span = f"bytes {start}-{len(body) - 1}/{len(body)}"
            _reply(handler, 206, body[start:], {"Content-Range": span})
        else:
            _reply(handler, 200, body)

    return behave


def ignoring_range(body: bytes) -> Behaviour:
    """Send the whole body, whatever Range says."""
    return lambda handler: _reply(handler, 200, body)


def partial(body: bytes, content_range: str) -> Behaviour:
    """Send the body as a 206 with this Content-Range, whatever was asked for."""
    return lambda handler: _reply(handler, 206, body, {"Content-Range": content_range})


def dropped(body: bytes, after: int) -> Behaviour:
    """Announce the whole body, close the connection after some bytes."""
    return sent(body[:after], Content_Length=str(len(body)))


def dropping(body: bytes, after: int) -> Behaviour:
    """Send the part that Range asks for, and close the connection after some bytes of it."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        headers = {"Content-Length": str(len(body) - start)}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        _reply(handler, 206 if start else 200, body[start : start + after], headers)

    return behave


def reset(body: bytes, after: int) -> Behaviour:
    """As `dropped`, but the connection ends with a reset."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        dropped(body, after)(handler)
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        handler.connection.close()

    return behave


def stalled(body: bytes, after: int) -> Behaviour:
    """As `dropped`, but the connection stays open until the client has had enough."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        dropped(body, after)(handler)
        handler.connection.recv(1)

    return behave


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Never answer."""
    handler.connection.recv(1)


def sent(body: bytes, **headers: str | None) -> Behaviour:
    """Send a body with these headers, as `status` names them; None leaves one out."""
    return lambda handler: _reply(handler, 200, body, _named(headers))


def chunked(body: bytes, after: int | None = None, end: bytes = b"0\r\n\r\n") -> Behaviour:
    """Send a body in chunks; with `after`, close the connection within a chunk."""
    size = 50_000
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    coded = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end
    return sent(coded[:after], Transfer_Encoding="chunked", Content_Length=None)


def raw(answer: bytes) -> Behaviour:
    """Send these bytes instead of an answer of HTTP."""
    return lambda handler: handler.wfile.write(answer) and None


def status(code: int, **headers: str) -> Behaviour:
    """Send a status without a body; an underscore in a header's name stands for a hyphen."""
    return lambda handler: _reply(handler, code, b"", _named(headers))


def _named(headers: dict[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _reply(handler, code: int, body: bytes, headers: dict[str, str | None] | None = None) -> None:
    handler.send_response(code)
    for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        if value is not None:
            handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@dataclass
class Server:
    """`routes[path]` are the behaviours of successive requests, the last one for all the rest."""

    url: str
    routes: dict[str, list[Behaviour]] = field(default_factory=dict)
    ranges: list[str | None] = field(default_factory=list)  # the Range of each request so far

    def serve(self, path: str, *behaviours: Behaviour) -> str:
        """Route a path and return its URL."""
        self.routes[path] = list(behaviours)
        return self.url + path


@contextmanager
def running_server():
    """Yield a Server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.ranges.append(self.headers.get("Range"))
            behaviours = server.routes.get(self.path, [status(404)])
            (behaviours.pop(0) if len(behaviours) > 1 else behaviours[0])(self)

        def log_message(self, *_args) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_port}")
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
