"""Over HTTP: resumed, tried again, never trusted."""

import re
from collections.abc import Callable
from pathlib import Path

import requests
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential
from tqdm import tqdm
from urllib3 import Retry
from urllib3.exceptions import HTTPError, InvalidHeader

from analogyqa.sources.verify import CHUNK, Refused

ATTEMPTS = 4
LONGEST_WAIT = 120.0  # seconds between two attempts, whatever the server asks for
TIMEOUT = (10.0, 60.0)  # seconds to connect, seconds without a byte


class Transient(Exception):
    """The server may do better later; it may say when, in seconds."""

    def __init__(self, message: str, retry_after: float | None = None):
        super().__init__(message)
        self.retry_after = retry_after


def download_url(
    url: str, part: Path, hashed: bool, label: str | None, sleep: Callable[[float], None]
) -> bool:
    """Bring `part` to its full length; True when it holds bytes of an earlier connection.

    Without a hash to come (`hashed`) nothing is resumed, as the file may have changed meanwhile,
    and a server must state a length, by which a lost connection is noticed.
    """
    backoff = wait_exponential(max=LONGEST_WAIT)

    def wait(state) -> float:
        asked = getattr(state.outcome.exception(), "retry_after", None)
        return backoff(state) if asked is None else min(asked, LONGEST_WAIT)

    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait,
        sleep=sleep,
        retry=retry_if_exception_type(
            (
                Transient,
                requests.ConnectionError,
                requests.Timeout,
                requests.exceptions.ChunkedEncodingError,
            )
        ),
        reraise=True,
    )
    try:
        return retrying(_stream, url, part, hashed, label)
    except requests.RequestException:
        raise
    except (ValueError, HTTPError) as error:  # which requests lets through, as of a chunk's length
        raise Refused(f"the answer is not understood: {error}") from error


def _stream(url: str, part: Path, hashed: bool, label: str | None) -> bool:
    start = part.stat().st_size if hashed and part.exists() else 0
    headers = {"Accept-Encoding": "identity"}  # byte ranges count bytes of the file as it is
    if start:
        headers["Range"] = f"bytes={start}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        content_range = response.headers.get("Content-Range", "")
        if start and response.status_code == requests.codes.requested_range_not_satisfiable:
            if content_range == f"bytes */{start}":
                return True
            part.unlink(missing_ok=True)
            raise Transient("the file on the server is shorter than the part already here")
        _raise_for_status(response)
        resumed = start > 0 and response.status_code == requests.codes.partial_content
        if not resumed and response.status_code != requests.codes.ok:
            raise Refused(f"HTTP {response.status_code} {response.reason} in place of a file")
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise Refused(f"the server sent it in the encoding {encoding}, not as it is")
        if resumed and not re.match(rf"bytes {start}-", content_range):
            part.unlink(missing_ok=True)
            raise Transient(f"the server sent {content_range!r}, not the bytes from {start}")
        length = response.raw.length_remaining  # None where the server states none
        if not hashed and length is None and not response.raw.chunked:
            raise Refused(
                "the server states no length, and no hash is known, so that a part of the file "
                "would pass for the whole"
            )
        done = start if resumed else 0
        with (
            part.open("ab" if resumed else "wb") as file,
            tqdm(
                desc=label,
                total=None if length is None else done + length,
                initial=done,
                unit="B",
                unit_scale=True,
                disable=None if label else True,  # None: only on a terminal
            ) as bar,
        ):
            # A body shorter than its Content-Length raises ChunkedEncodingError.
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    return resumed


def _raise_for_status(response: requests.Response) -> None:
    if response.ok:
        return
    message = f"HTTP {response.status_code} {response.reason}"
    retryable = (requests.codes.request_timeout, requests.codes.too_many_requests)
    if response.status_code < 500 and response.status_code not in retryable:
        raise Refused(message)
    try:
        retry_after = Retry().get_retry_after(response.raw)
    except InvalidHeader:
        retry_after = None
    raise Transient(message, retry_after)
