# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns: typed views of a block of memory, which each of them keeps."""
from array import array
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Generic, TypeVar

from ._libcmt import ffi, lib

T = TypeVar("T")

_FORMATS = {"uint64_t": "Q", "int64_t": "q", "uint32_t": "I", "int32_t": "i",
            "double": "d", "_Bool": "?"}


class Block:
    """A block of blocks.h; data is all of it, to be read only."""

    def __init__(self, pointer: Any) -> None:
        if not pointer:
            raise MemoryError
        self.head = ffi.gc(pointer, lib.free, pointer.size)
        self.data = memoryview(ffi.buffer(self.head, pointer.size)).toreadonly()


class Columns:
    """
    Columns of so many rows (len()), each a memoryview with a format and a length.

    They support the buffer protocol: numpy.asarray(column) copies nothing.  What
    a column shows does not change, and stays valid whatever is closed or freed.
    """

    #: The struct of C that has the columns.
    layout: ClassVar[str]
    #: Is it an array of that struct, or one array for each member?
    strided: ClassVar[bool] = False

    def __init__(self, block: Block, at: int, length: int) -> None:
        self._data, self._at, self._length = block.data, at, length

    def __len__(self) -> int:
        return self._length

    def view(self, form: str, size: int, offset: int) -> memoryview:
        """The column at this offset in the layout, of elements of this size."""
        if not self._length:
            return memoryview(array("B" if form == "?" else form))
        if self.strided:
            stride = ffi.sizeof(self.layout)
            rows = self._data[self._at:self._at + self._length * stride]
            return rows.cast(form)[offset // size::stride // size]
        begin = self._at + self._length * offset
        return self._data[begin:begin + self._length * size].cast(form)


class Column:
    """An attribute of Columns: the member of the layout by its name or by a path."""

    def __init__(self, *path: str, form: str = "") -> None:
        self._path, self._form = path, form
        self._name = ""
        self._place = ("", 0, 0)

    def __set_name__(self, owner: type[Columns], name: str) -> None:
        self._name = name
        kind, offset = ffi.typeof(owner.layout), 0
        for member in self._path or (name,):
            field = dict(kind.fields)[member]
            offset += field.offset
            kind = field.type
        self._place = (self._form or _FORMATS[kind.cname], ffi.sizeof(kind), offset)

    def __get__(self, rows: Columns, _owner: type[Columns]) -> memoryview:
        view = rows.view(*self._place)
        rows.__dict__[self._name] = view
        return view


class Cache(Generic[T]):
    """Objects by the bytes that they are made of; those of the last use are kept."""

    def __init__(self, make: Callable[[bytes], T]) -> None:
        self._make = make
        self._kept: dict[bytes, T] = {}

    def take(self, keys: Iterable[bytes]) -> list[T]:
        """An object for each key."""
        before, taken = self._kept, []
        now: dict[bytes, T] = {}
        for key in keys:
            found = now.get(key) or before.get(key)
            if found is None:
                found = self._make(key)
            now[key] = found
            taken.append(found)
        self._kept = now
        return taken
