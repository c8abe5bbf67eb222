# SPDX-License-Identifier: LGPL-2.1-or-later
"""The base of objects that own an object of the library."""
import os
import weakref
from typing import Any, Callable, TypeVar

from ._libcmt import ffi

Self = TypeVar("Self", bound="Handle")


class Shared:
    """
    An object of the library's that its handle and its users hold: the last one frees it.

    The collector finalizes what is in one garbage cycle in any order, also a source
    before its users.
    """

    def __init__(self, pointer: Any, free: Callable[[Any], None]) -> None:
        self._pointer, self._free = pointer, free
        # One for each holder but one: append() and pop() need no lock.
        self._others: list[None] = []

    def hold(self) -> None:
        """One more holder, which calls drop() once."""
        self._others.append(None)

    def drop(self) -> None:
        """One holder less."""
        try:
            self._others.pop()
        except IndexError:
            self._free(self._pointer)


class Handle:
    """
    Holds an object of the library's until close(), or until it is collected.

    source: is used by it, and is freed after it.
    """

    def __init__(self, pointer: Any, free: Callable[[Any], None],
                 source: "Source | None" = None) -> None:
        self._held: Any = ffi.gc(pointer, source.held_by(free) if source else free)
        self._pid = os.getpid()
        if source:
            source.adopt(self)

    @property
    def pointer(self) -> Any:
        """The object; ValueError when it was closed, and in a child of fork(2)."""
        if self._held is None:
            raise ValueError(f"{type(self).__name__} is closed")
        if self._pid != os.getpid():
            raise ValueError(f"{type(self).__name__} belongs to another process: "
                             "open it after the fork")
        return self._held

    def close(self) -> None:
        """Free the library's object.  Closing twice does nothing."""
        held, self._held = self._held, None
        if held is not None:
            ffi.release(held)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Source(Handle):
    """A handle that others use, which are closed before it."""

    def __init__(self, pointer: Any, free: Callable[[Any], None]) -> None:
        shared = Shared(pointer, free)
        super().__init__(pointer, lambda _pointer: shared.drop())
        self._shared = shared
        self._users: weakref.WeakSet[Handle] = weakref.WeakSet()

    def close(self) -> None:
        """Close the users of this object, then free the library's object."""
        for user in list(self._users):
            user.close()
        super().close()

    def held_by(self, free: Callable[[Any], None]) -> Callable[[Any], None]:
        """
        Hold the object for a user, and return what frees the user's and then drops it.

        In a child of fork(2) the user's object stays until the child's end: to free it
        unmaps rings that are not mapped there, and ends what the parent asked for.
        """
        shared, pid = self._shared, os.getpid()

        def free_and_drop(pointer: Any) -> None:
            if os.getpid() == pid:
                free(pointer)
            shared.drop()

        shared.hold()
        return free_and_drop

    def adopt(self, user: Handle) -> None:
        """The users of this object, which are closed before it."""
        self._users.add(user)
