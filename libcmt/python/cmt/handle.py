# SPDX-License-Identifier: LGPL-2.1-or-later
"""The base of objects that own an object of the library."""
import weakref
from typing import Any, Callable, TypeVar

from ._libcmt import ffi

Self = TypeVar("Self", bound="Handle")


class Handle:
    """Holds an object of the library's until close(), or until it is collected."""

    def __init__(self, pointer: Any, free: Callable[[Any], None]) -> None:
        self._held: Any = ffi.gc(pointer, free)

    @property
    def pointer(self) -> Any:
        """The object; ValueError when it was closed."""
        if self._held is None:
            raise ValueError(f"{type(self).__name__} is closed")
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
        super().__init__(pointer, free)
        self._users: weakref.WeakSet[Handle] = weakref.WeakSet()

    def close(self) -> None:
        """Close the users of this object, then free the library's object."""
        for user in list(self._users):
            user.close()
        super().close()

    def adopt(self, user: Handle) -> None:
        """The users of this object, which are closed before it."""
        self._users.add(user)
