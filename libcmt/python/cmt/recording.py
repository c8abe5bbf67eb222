# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recordings, as cmtstat record writes them."""
import os
from dataclasses import dataclass

from ._libcmt import ffi, lib
from .device import Info, make_info
from .errors import Error, check, why
from .handle import Source
from .types import Flag, c_text, text


@dataclass(frozen=True)
class About:
    """The machine of a recording, its time and its size."""

    complete: bool  #: it was ended, not cut
    indexed: bool  #: its index is intact; else it was looked through
    start_ns: int | None  #: CLOCK_MONOTONIC there, of the first record
    end_ns: int | None  #: of the last one
    monotonic_ns: int | None  #: both clocks at one instant, that of the first state
    realtime_ns: int | None  #: since 1970
    bytes: int  #: of the file
    chunks: int
    records: int
    damaged: int  #: parts; of what was read so far, and likewise:
    damaged_bytes: int
    missing: int  #: chunks that are known to be missing or damaged
    counters: Flag  #: CYCLES, ...: what was asked for
    counter_bits: int  #: significant bits of their counts; 0: counts are exact
    host: str  #: "": not known
    kernel: str
    boot_id: str
    program: str


class Recording(Source):
    """
    A recording, to be read by Usage(recording): an iterator that ends with it.  It has
    one Usage or Slowdowns at a time.

    What is damaged is left out, and counts as lost in the frames.
    Error: EBADMSG (no recording), ENODATA (empty), EPROTONOSUPPORT (its format is
    newer), EISDIR, ESPIPE (no regular file), or what open(2) says.
    """

    def __init__(self, path: "str | bytes | os.PathLike[str]") -> None:
        store = ffi.new("struct cmt_recording **")
        err = lib.cmt_recording_open(store, c_text(path))
        if err < 0:
            raise Error(-err, f"{os.fsdecode(path)}: {why(err)}")
        super().__init__(store[0], lib.cmt_recording_close)
        raw = lib.cmt_recording_info(store[0])
        #: What the module said of itself; None: that is damaged.
        self.info: Info | None = make_info(raw) if raw else None

    def about(self) -> About:
        """The machine, the time and the size.  Slow for a large file without an index."""
        raw = ffi.new("struct cmt_recording_about *", {
            "sz": ffi.sizeof("struct cmt_recording_about")})
        check(lib.cmt_recording_about(self.pointer, raw), "recording")
        return About(
            complete=bool(raw.flags & lib.CMT_RECORDING_COMPLETE),
            indexed=bool(raw.flags & lib.CMT_RECORDING_INDEXED),
            start_ns=raw.start_ns or None, end_ns=raw.end_ns or None,
            monotonic_ns=raw.monotonic_ns or None, realtime_ns=raw.realtime_ns or None,
            bytes=raw.bytes, chunks=raw.chunks, records=raw.records,
            damaged=raw.damaged, damaged_bytes=raw.damaged_bytes,
            missing=raw.missing, counters=Flag(raw.counters),
            counter_bits=raw.counter_bits,
            host=text(raw.host), kernel=text(raw.kernel),
            boot_id=text(raw.boot_id), program=text(raw.program))

    def seek(self, ts: int) -> None:
        """
        Go on with the records of this time, or a little before: for the next Usage.

        A Usage that has read elsewhere is of no further use, and is to be closed.
        """
        check(lib.cmt_recording_seek(self.pointer, ts), "seek")
