# SPDX-License-Identifier: LGPL-2.1-or-later
"""Containers: from a cgroup id to a path and a name that people know."""
import os
from dataclasses import dataclass
from typing import Any

from ._libcmt import ffi, lib
from .errors import check
from .handle import Handle
from .types import c_text, text


@dataclass(frozen=True)
class Container:
    """What a cgroup is.  All text but the path is printable ASCII."""

    cgroup_id: int
    runtime: str  #: "docker", "containerd", ...; "": a plain cgroup
    name: str  #: to be shown, the best there is
    id: str  #: the container's, "" if none
    pod: str  #: the pod's uid, "" if none
    path: str | None  #: from the cgroup root, "/" for it; None: not known
    container_name: str | None  #: this and what follows: from the runtime's
    pod_name: str | None  #: state; None: it says nothing, or may not be read
    pod_namespace: str | None
    image: str | None


class Containers(Handle):
    """
    A cache of what cgroups are, which it keeps after they are gone.

    cgroup_root: where cgroup v2 is mounted; None finds it.
    Error: ENOENT (there is no cgroup v2 mount), ENOMEM.
    """

    def __init__(self, cgroup_root: str | os.PathLike[str] | None = None) -> None:
        store = ffi.new("struct cmt_containers **")
        check(lib.cmt_containers_new(store, c_text(cgroup_root)), "cgroups")
        super().__init__(store[0], lib.cmt_containers_free)

    def lookup(self, cgroup_id: int) -> Container:
        """
        What the cgroup of this inode number is.

        The first lookup of a container walks the cgroup tree and reads state
        files, which may wait for a disk.  What is not found is named
        "cgroup:<id>", and a later lookup may find it.
        """
        raw = lib.cmt_containers_lookup(self.pointer, cgroup_id)
        if not raw:
            raise MemoryError
        return _make_container(raw)

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
        lib.cmt_containers_forget(self.pointer, cgroup_id)


def container_name(path: str) -> Container:
    """
    What the path of a cgroup tells by itself: runtime, name, id and pod.

    A cgroup nested inside a container's belongs to that container.
    """
    raw = ffi.new("struct cmt_container *")
    lib.cmt_container_name(c_text(path), raw)
    return _make_container(raw, path)


def _optional(pointer: Any) -> str | None:
    return text(pointer) if pointer else None


def _make_container(raw: Any, path: str | None = None) -> Container:
    if raw.path:
        path = os.fsdecode(ffi.string(raw.path))
    return Container(
        cgroup_id=raw.cgroup_id,
        runtime=text(lib.cmt_runtime_name(raw.runtime)),
        name=text(raw.name),
        id=text(raw.id),
        pod=text(raw.pod),
        path=path,
        container_name=_optional(raw.container_name),
        pod_name=_optional(raw.pod_name),
        pod_namespace=_optional(raw.pod_namespace),
        image=_optional(raw.image),
    )
