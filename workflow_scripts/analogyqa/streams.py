"""Standard streams that are closed or full, or that cannot show a character."""

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from analogyqa.errors import AnalogyQAError

CLOSED_PIPE = 141  # the exit status of a program that SIGPIPE ends, such as `cat` before `head`


class _Stream(io.FileIO):
    """The bytes of a standard stream; after a first error they are discarded.

    Args:
        number: The file descriptor.
        is_needed: An error ends the command: quietly for a closed pipe, otherwise with a message.
    """

    def __init__(self, number: int, is_needed: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self.is_needed = is_needed

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if not self.is_needed:
                return len(data)
            if isinstance(error, BrokenPipeError):
                raise SystemExit(CLOSED_PIPE) from None
            raise AnalogyQAError(
                f"the output cannot be written ({error.strerror}). Free some disk space, or send "
                "it to another file"
            ) from error


def prepare_streams(is_output_needed: bool = True) -> None:
    r"""Let standard streams neither raise errors of their own nor stop a job.

    A closed stream becomes /dev/null. A character that a terminal cannot show is escaped (`\xe9`).
    Nothing that fails on standard error matters.

    Args:
        is_output_needed: The command ends if its output cannot be written.
    """
    # A file that is opened later must not get the number of a closed stream.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = _prepared(sys.stdout, 1, is_output_needed)
    sys.stderr = _prepared(sys.stderr, 2, False)


def _prepared(stream: Any, number: int, is_needed: bool) -> TextIO:
    if stream:
        try:
            is_standard = stream.fileno() == number
        except OSError:
            is_standard = False
        if not is_standard:  # a test or a notebook has replaced it
            return stream
    raw = _Stream(number, is_needed)
    if stream is None:
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
    with suppress(OSError):
        stream.flush()
    return io.TextIOWrapper(
        raw if stream.write_through else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
