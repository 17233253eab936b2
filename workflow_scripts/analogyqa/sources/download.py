"""Over HTTP: resumed, tried again, never trusted."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import requests
from requests import RequestException, codes
from requests.exceptions import ChunkedEncodingError
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tqdm import tqdm
from urllib3 import Retry
from urllib3.exceptions import HTTPError, InvalidHeader

from analogyqa.sources.verify import CHUNK, Refused

ATTEMPTS = 4
LONGEST_WAIT = 120.0  # seconds between two attempts, whatever the server asks for
TIMEOUT = (10.0, 60.0)  # seconds to connect, seconds without a byte


class Transient(Exception):
    """The server may do better later."""

    retry_after: float | None = None  # seconds, where the server says when


MAY_PASS = (Transient, requests.ConnectionError, requests.Timeout, ChunkedEncodingError)


def download_url(url: str, part: Path, hashed: bool, sleep: Callable[[float], None]) -> bool:
    """Bring `part` to its full length; True when it holds bytes of an earlier connection.

    Without a hash to come (`hashed`) nothing is resumed, as the file may have changed meanwhile,
    and a server must state a length, by which a lost connection is noticed. Raises Refused when
    the server has failed for good, and OSError for a disk that does.
    """
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=_wait,
        sleep=sleep,
        retry=retry_if_exception_type(MAY_PASS),
        reraise=True,
    )
    try:
        return retrying(_stream, url, part, hashed)
    except (Transient, RequestException) as error:
        # Below the "max retries exceeded" of urllib3, which never retries here.
        cause = error.args[0] if error.args else error
        raise Refused(str(getattr(cause, "reason", error))) from error
    except (ValueError, HTTPError) as error:  # which requests lets through, as of a chunk's length
        raise Refused(f"the answer is not understood: {error}") from error


def _wait(state: RetryCallState) -> float:
    asked = getattr(state.outcome.exception(), "retry_after", None)
    return min(2.0 ** (state.attempt_number - 1) if asked is None else asked, LONGEST_WAIT)


def _stream(url: str, part: Path, hashed: bool) -> bool:
    start = part.stat().st_size if hashed and part.exists() else 0
    headers = {"Accept-Encoding": "identity"}  # byte ranges count bytes of the file as it is
    if start:
        headers["Range"] = f"bytes={start}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        code, content_range = response.status_code, response.headers.get("Content-Range", "")
        resumed = start > 0 and code == codes.partial_content
        at_end = start > 0 and code == codes.requested_range_not_satisfiable
        if at_end and content_range == f"bytes */{start}":
            return True
        if at_end or (resumed and not content_range.startswith(f"bytes {start}-")):
            part.unlink(missing_ok=True)
            raise Transient(f"the server sent {content_range!r}, not the bytes from {start}")
        if not resumed and code != codes.ok:
            raise _failure(response)
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise Refused(f"the server sent it in the encoding {encoding}, not as it is")
        length = response.raw.length_remaining  # None where the server states none
        if not hashed and length is None and not response.raw.chunked:
            raise Refused("no length is stated, no hash known: a part would pass for the whole")
        done = start if resumed else 0
        total = None if length is None else done + length
        with (
            part.open("ab" if resumed else "wb") as file,
            tqdm(
                desc=part.name, total=total, initial=done, unit="B", unit_scale=True, disable=None
            ) as bar,  # only on a terminal
        ):
            # A body shorter than its Content-Length raises ChunkedEncodingError.
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    return resumed


def _failure(response: requests.Response) -> Refused | Transient:
    code = response.status_code
    message = f"HTTP {code} {response.reason} instead of a file"
    if code < 500 and code not in (codes.request_timeout, codes.too_many_requests):
        return Refused(message)
    failure = Transient(message)
    with suppress(InvalidHeader):
        failure.retry_after = Retry().get_retry_after(response.raw)
    return failure
