# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers that have names, owners, and texts to and from C."""
import os
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any

from ._libcmt import ffi, lib


class _Open(IntEnum):
    """A newer module may know values that are not listed: UNKNOWN_<value>."""

    @classmethod
    def _missing_(cls, value: object) -> "_Open":
        if not isinstance(value, int):
            raise ValueError(f"{value!r} is no {cls.__name__}")
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member


class Backend(_Open):
    """The source of values."""

    HARDWARE = lib.CMT_BACKEND_HARDWARE  #: measured
    EMULATED = lib.CMT_BACKEND_EMULATED  #: from a model; nothing is measured
    SOFTWARE = lib.CMT_BACKEND_SOFTWARE  #: no occupancy and no bandwidth
    RESCTRL = lib.CMT_BACKEND_RESCTRL  #: read from the groups of resctrl


class Vendor(_Open):
    """The vendor of the processor."""

    OTHER = lib.CMT_VENDOR_OTHER
    INTEL = lib.CMT_VENDOR_INTEL
    AMD = lib.CMT_VENDOR_AMD
    HYGON = lib.CMT_VENDOR_HYGON


class Scope(_Open):
    """The scope: which owners get RMIDs."""

    CHANGING = 0  #: another one is being set right now
    PROCESS = lib.CMT_SCOPE_PROCESS  #: a process, with all its threads
    CONTAINER = lib.CMT_SCOPE_CONTAINER  #: the cgroup of a container or a service, and below
    CPU = lib.CMT_SCOPE_CPU  #: a CPU, whatever runs there
    MANUAL = lib.CMT_SCOPE_MANUAL  #: only what was attached


class ResctrlMode(_Open):
    """The RMID of a task in a resctrl group: resctrl's or cmt's."""

    RESPECT = lib.CMT_RESCTRL_RESPECT  #: resctrl's, sampled as an OwnerKind.RESCTRL
    TAKE = lib.CMT_RESCTRL_TAKE  #: cmt's; the CLOSID stays resctrl's


class Why(_Open):
    """Why an owner is pending."""

    NO_RMID = lib.CMT_WHY_NO_RMID  #: every RMID has an owner or is in limbo
    RECLAIMED = lib.CMT_WHY_RECLAIMED  #: another agent or a container took its RMID
    NO_OWNER = lib.CMT_WHY_NO_OWNER  #: more owners than the module can note


class OwnerKind(_Open):
    """The kind of an owner.  OVERFLOW and RESCTRL cannot be attached."""

    PROCESS = lib.CMT_OWNER_PROCESS
    CGROUP = lib.CMT_OWNER_CGROUP
    CPU = lib.CMT_OWNER_CPU
    OVERFLOW = lib.CMT_OWNER_OVERFLOW  #: all pending owners together
    RESCTRL = lib.CMT_OWNER_RESCTRL  #: what resctrl, or another agent, counts
    KERNEL = lib.CMT_OWNER_KERNEL  #: the kernel, where AMD's PLZA gives it an RMID


class RecordType(_Open):
    """Record.type."""

    ALLOC = lib.CMT_REC_ALLOC  #: the owner got this RMID
    FREE = lib.CMT_REC_FREE  #: the owner is gone
    EXISTING = lib.CMT_REC_EXISTING  #: in snapshots only
    UPDATE = lib.CMT_REC_UPDATE  #: a new name or cgroup, attached or not
    ALLOC_FAIL = lib.CMT_REC_ALLOC_FAIL  #: the owner is pending
    SAMPLE = lib.CMT_REC_SAMPLE
    TICK = lib.CMT_REC_TICK
    PERF = lib.CMT_REC_PERF  #: what one RMID counted on a CPU
    CHANNEL = lib.CMT_REC_CHANNEL  #: what went over one memory channel
    CPU_ONLINE = lib.CMT_REC_CPU_ONLINE
    CPU_OFFLINE = lib.CMT_REC_CPU_OFFLINE
    STATE = lib.CMT_REC_STATE  #: a setting was set, or what is counted changed
    LOST = lib.CMT_REC_LOST  #: records were overwritten before they were read


class Flag(IntFlag):
    """Flags of a record's values; unknown bits are kept."""

    EMULATED = lib.CMT_F_EMULATED  #: from a model, not measured
    PQR_OVERWRITTEN = lib.CMT_F_PQR_OVERWRITTEN  #: another agent had changed a CPU's RMID
    OCCUPANCY = lib.CMT_F_OCCUPANCY  #: the value is a measurement (or the model's)
    MBM_TOTAL = lib.CMT_F_MBM_TOTAL
    MBM_LOCAL = lib.CMT_F_MBM_LOCAL
    RESIDUAL = lib.CMT_F_RESIDUAL
    ERROR = lib.CMT_F_ERROR  #: the processor reported an error
    UNAVAILABLE = lib.CMT_F_UNAVAILABLE  #: the processor had no value
    REBASED = lib.CMT_F_REBASED  #: traffic before this sample is unknown
    CHANNEL = lib.CMT_F_CHANNEL  #: of a memory channel: both values are measurements
    CHANNEL_IDLE = lib.CMT_F_CHANNEL_IDLE  #: so are its cycles
    CYCLES = lib.CMT_F_CYCLES  #: counted by the processor, as the next three
    INSTRUCTIONS = lib.CMT_F_INSTRUCTIONS
    LLC_MISSES = lib.CMT_F_LLC_MISSES
    LLC_REFERENCES = lib.CMT_F_LLC_REFERENCES
    COUNTERS_FIRST = lib.CMT_F_COUNTERS_FIRST  #: for Device.set_counters only
    WAITED = lib.CMT_F_WAITED  #: what tasks waited for a CPU is known
    WAIT_QUOTA = lib.CMT_F_WAIT_QUOTA  #: some task was out of its quota, which is no wait
    OWNER_CGROUP = lib.CMT_F_OWNER_CGROUP
    OWNER_CPU = lib.CMT_F_OWNER_CPU
    OWNER_OVERFLOW = lib.CMT_F_OWNER_OVERFLOW
    ATTACHED = lib.CMT_F_ATTACHED
    OWNER_RESCTRL = lib.CMT_F_OWNER_RESCTRL
    OWNER_KERNEL = lib.CMT_F_OWNER_KERNEL
    SERVICE = lib.CMT_F_SERVICE
    GROUP_SOLE = lib.CMT_F_GROUP_SOLE  #: of OWNER_RESCTRL: all members belong to one owner


class By(_Open):
    """The view of a Frame: the kind of its rows."""

    CONTAINER = lib.CMT_USAGE_BY_CONTAINER
    PROCESS = lib.CMT_USAGE_BY_PROCESS  #: or whatever else has an RMID
    CPU = lib.CMT_USAGE_BY_CPU
    DOMAIN = lib.CMT_USAGE_BY_DOMAIN  #: an L3 domain


class Resource(_Open):
    """What a neighbour takes from a victim."""

    CPU = lib.CMT_SLOWDOWN_CPU  #: the kernel's account of the last second, no estimate
    CACHE = lib.CMT_SLOWDOWN_CACHE
    MEMORY = lib.CMT_SLOWDOWN_MEMORY  #: a miss takes longer while others miss


class RowKind(_Open):
    """The kind of a row."""

    OWNER = lib.CMT_USAGE_OWNER
    UNKNOWN = lib.CMT_USAGE_UNKNOWN  #: an RMID whose owner's record was lost
    OVERFLOW = lib.CMT_USAGE_OVERFLOW  #: the overflow RMID: all pending owners
    UNATTRIBUTED = lib.CMT_USAGE_UNATTRIBUTED  #: RMID 0: idle, kernel, not monitored
    OUTSIDE = lib.CMT_USAGE_OUTSIDE  #: outside this machine: in no frame


class UsageWhy(IntFlag):
    """Why a value is unknown or partial; unknown bits are kept."""

    ERROR = lib.CMT_USAGE_WHY_ERROR  #: the hardware said error
    UNAVAILABLE = lib.CMT_USAGE_WHY_UNAVAILABLE  #: it said unavailable
    GAP = lib.CMT_USAGE_WHY_GAP  #: traffic was not counted
    FIRST = lib.CMT_USAGE_WHY_FIRST  #: one reading makes no rate
    ENDED = lib.CMT_USAGE_WHY_ENDED  #: all owners of the row ended
    OVERWRITTEN = lib.CMT_USAGE_WHY_OVERWRITTEN  #: another agent's RMID counted some of it
    OLD = lib.CMT_USAGE_WHY_OLD  #: no reading in the interval
    PENDING = lib.CMT_USAGE_WHY_PENDING  #: the overflow RMID has a part
    NOT_COUNTED = lib.CMT_USAGE_WHY_NOT_COUNTED  #: of Counters: values are missing
    EXCLUDED = lib.CMT_USAGE_WHY_EXCLUDED  #: of Counters: a CPU is excluded


class RowFlag(IntFlag):
    """Flags of a row; unknown bits are kept."""

    EMULATED = lib.CMT_USAGE_ROW_EMULATED  #: values of a model
    WHOLE = lib.CMT_USAGE_ROW_WHOLE  #: by container: one RMID is all of a cgroup
    ATTACHED = lib.CMT_USAGE_ROW_ATTACHED
    CPU = lib.CMT_USAGE_ROW_CPU  #: by CPU: it is a CPU's
    SEEN = lib.CMT_USAGE_ROW_SEEN  #: not set: only a CPU's losses are known
    BORROWED_ID = lib.CMT_USAGE_ROW_BORROWED_ID  #: another row has the same
    #: container id, or name without an id, and this one may have borrowed it
    GROUP_CPU = lib.CMT_USAGE_ROW_GROUP_CPU  #: of RESCTRL: cpu is one of the group's


@dataclass(frozen=True)
class Owner:
    """The present or past owner of an RMID."""

    kind: OwnerKind
    rmid: int
    generation: int  #: another one whenever the RMID is handed out again
    since_ns: int  #: since when it owns the RMID; in pending(): is pending
    until_ns: int | None  #: when it was gone; None: it is there
    pid: int | None  #: of a process
    cpu: int | None  #: of a CPU
    cgroup_id: int  #: cgroup v2 inode number; 0: none
    residual_bytes: int | None  #: cache that the RMID held when it was handed out; None: not
    #: read then
    attached: bool
    comm: str  #: the process's name; bytes that are not UTF-8 are escaped
    why: Why | None = None  #: why the owner is pending; None: it is not
    service: bool = False  #: a cgroup of the lower class
    sole: bool = False  #: the RMID is of a resctrl group whose members are all this owner's
    group_tid: int | None = None  #: of RESCTRL: a thread in the group, where one is known
    group_cpu: int | None = None  #: of RESCTRL: a CPU of the group, where one is known


def make_owner(owner: Any) -> Owner | None:
    """An Owner of a struct cmt_owner; None of NULL."""
    if not owner:
        return None
    kind = OwnerKind(owner.kind)
    return Owner(
        kind=kind,
        rmid=owner.rmid,
        generation=owner.generation,
        since_ns=owner.since,
        until_ns=owner.until if owner.freed else None,
        pid=owner.tgid if kind == OwnerKind.PROCESS else None,
        cpu=owner.cpu if kind == OwnerKind.CPU else None,
        cgroup_id=owner.cgroup_id,
        residual_bytes=owner.residual_bytes if owner.residual_known else None,
        attached=bool(owner.attached),
        comm=text(owner.comm),
        why=Why(owner.why) if owner.why else None,
        service=bool(owner.service),
        sole=bool(owner.sole),
        group_tid=owner.group_tid or None,
        group_cpu=owner.group_cpu if owner.group_cpu != lib.CMT_GROUP_NO_CPU else None,
    )


def text(array: Any) -> str:
    """A char array or pointer of C."""
    data: bytes = ffi.string(array)
    return data.decode("utf-8", "backslashreplace")


def measured(flags: int, flag: Flag, value: int) -> int | None:
    """A value is one only with its flag."""
    return value if flags & flag else None


def c_text(value: str | bytes | os.PathLike[str] | None) -> Any:
    """A text or a path for C; NULL for None."""
    if value is None:
        return ffi.NULL
    data = os.fsencode(value)
    if b"\0" in data:
        raise ValueError("embedded null byte")
    return data
