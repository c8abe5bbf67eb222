# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers: from a cgroup id to a path and a name that people know."""
import os
from dataclasses import dataclass
from typing import Any

from ._libcmt import ffi, lib
from .device import Device
from .errors import check
from .handle import Handle
from .types import c_text, text


@dataclass(frozen=True)
class Container:
    """The container of a cgroup.  All texts except the paths are printable ASCII."""

    cgroup_id: int
    runtime: str  #: "docker", "containerd", ...; "": a plain cgroup
    name: str  #: to be shown, the best there is
    id: str  #: the container's, "" if none
    pod: str  #: the pod's uid, "" if none
    path: str | None  #: from the cgroup root, "/" for it; None: not known
    own_path: str | None  #: of path, what leads to the container's own cgroup
    uid: int | None  #: the cgroup is below this user's slice: runtime, id and
    #: name are that user's word, and the id may be another container's
    overhead: bool  #: not the container's own cgroup, but threads that run its
    #: VM, apart from it: Kata Containers' /kata_overhead/ID
    container_name: str | None  #: this and what follows: from the runtime's
    pod_name: str | None  #: state; None: it says nothing, or may not be read
    pod_namespace: str | None
    image: str | None


class Containers(Handle):
    """
    A cache of what cgroups are, which it keeps after they are gone.

    device: asked for paths; None: the tree at cgroup_root is read.
    cgroup_root: where cgroup v2 is mounted; None finds it.
    Where there is neither, every cgroup is called by its id.
    Error: ENOMEM, or what opening cgroup_root says.
    """

    def __init__(self, device: Device | None = None, *,
                 cgroup_root: str | os.PathLike[str] | None = None) -> None:
        store = ffi.new("struct cmt_containers **")
        opts = ffi.new("struct cmt_containers_opts *")
        opts.sz = ffi.sizeof("struct cmt_containers_opts")
        opts.device = device.pointer if device else ffi.NULL
        root = cgroup_root if cgroup_root is None else ffi.new(
            "char[]", c_text(cgroup_root))
        opts.cgroup_root = root or ffi.NULL
        check(lib.cmt_containers_new(store, opts), "cgroups")
        super().__init__(store[0], lib.cmt_containers_free, device)
        self._made: dict[int, tuple[bytes, Container]] = {}

    def lookup(self, cgroup_id: int) -> Container:
        """
        What the cgroup of this inode number is: the same object again, until
        that changes.

        The first lookup of a container asks the kernel and reads state files,
        which may wait for a disk.  What is not found is named "cgroup:<id>",
        and a later lookup may find it.
        """
        raw = lib.cmt_containers_lookup(self.pointer, cgroup_id)
        if not raw:
            raise MemoryError
        key = packed(raw)
        made, container = self._made.get(cgroup_id, (b"", None))
        if container is None or made != key:
            container = make_container(key)
            if len(self._made) >= _MADE_MAX:
                self._made.clear()
            self._made[cgroup_id] = key, container
        return container

    def set_root(self, root: str | os.PathLike[str] | None) -> None:
        """
        Look for the state of runtimes below this directory instead of "/".

        Such as where a container has mounted the host's; None: read no state.
        Error: what opening the directory says; then nothing has changed.
        """
        check(lib.cmt_containers_set_root(self.pointer, c_text(root)),
              str(root))

    def forget(self, cgroup_id: int) -> None:
        """Drop one id from the cache."""
        self._made.pop(cgroup_id, None)
        lib.cmt_containers_forget(self.pointer, cgroup_id)


def container_name(path: str) -> Container:
    """
    What the path of a cgroup tells by itself: runtime, name, id and pod.

    A cgroup nested inside a container's belongs to that container.
    """
    raw = ffi.new("struct cmt_container *")
    raw.sz = ffi.sizeof("struct cmt_container")
    own = ffi.new("char[]", c_text(path))
    lib.cmt_container_name(own, raw)
    raw.path = own
    return make_container(packed(raw))


#: Containers that a Containers has objects of.
_MADE_MAX = 4096


def packed(raw: Any) -> bytes:
    """What make_container() takes of a container of C."""
    room = ffi.new("char[]", lib.container_put(ffi.NULL, raw))
    lib.container_put(room, raw)
    return bytes(ffi.buffer(room))


def make_container(key: bytes) -> Container:
    """A Container of what container_put() of blocks.c wrote."""
    head = ffi.from_buffer("struct container_head *", key)
    texts = key[ffi.sizeof("struct container_head"):].split(b"\0")
    name, cid, pod, path, *state = (
        entry if head.present & 1 << i else None
        for i, entry in enumerate(texts[:8]))
    return Container(
        cgroup_id=head.cgroup_id,
        runtime=text(lib.cmt_runtime_name(head.runtime)),
        name=(name or b"").decode("ascii"),
        id=(cid or b"").decode("ascii"),
        pod=(pod or b"").decode("ascii"),
        path=path if path is None else os.fsdecode(path),
        own_path=path if path is None else os.fsdecode(path[:head.own_len]),
        uid=head.uid if head.flags & lib.CMT_CONTAINER_OF_USER else None,
        overhead=bool(head.flags & lib.CMT_CONTAINER_OVERHEAD),
        **{member: entry if entry is None else entry.decode("ascii")
           for member, entry in zip(_STATE, state)},
    )


_STATE = ("container_name", "pod_name", "pod_namespace", "image")
