# SPDX-License-Identifier: LGPL-2.1-or-later
"""The exceptions of calls that fail."""
from ._libcmt import ffi, lib


def why(err: int) -> str:
    """The library's meaning of -errno."""
    said: bytes = ffi.string(lib.cmt_strerror(err))
    return said.decode()


class Error(OSError):
    """
    A call of libcmt failed.

    errno is a number of the module errno, strerror a text that says what
    failed and, where that is known, what helps.
    """


class PatternError(Error):
    """The patterns of Device.set_scope() are wrong at byte bad_at of their text."""

    def __init__(self, errno: int, text: str, bad_at: int) -> None:
        super().__init__(errno, text)
        self.bad_at = bad_at


def check(result: int, what: str) -> int:
    """Return the result of a library function, or raise for -errno."""
    if result < 0:
        raise Error(-result, f"{what}: {why(result)}")
    return result
