"""Memory for tables.

Large tables lie on huge pages, with rows that start on cache lines, where the
engine writes them faster. When one is freed, its memory is kept for the next: to
fault new pages in takes longer than to make a table. Who has which memory is
counted by the extension module, in python/core/lease.c.
"""

from __future__ import annotations

import mmap
import os
import sys
import threading
from typing import Any

import numpy as np

from . import _core
from ._native import call, flat_array

_LINE = 64
_HUGE_PAGE = 2 << 20
_LARGE = 2 << 20  # bytes from which on a table has pages of its own; less stays in the nearer caches, for the next to take its place
_PADDED = 1 << 19  # from which on rows start on lines too, in memory of NumPy's: 6 to 8% less time for bytes
_SECOND = 1 << 20  # the same for tables beside another: the system takes back what several leave behind at once
_ASKED = 64 << 20  # from which on the library is asked whether there is memory: pages come when they are written, which is too late for an error
LARGE_SQUARES = _ASKED // 2  # from which on a table of squares and that of the sums, which is not larger, may be as much
_SHORT_ROW = 8 * _LINE  # rows up to this have no gaps

_limit = 384 << 20  # three tables of an image of 4096x4096 bytes
_core.limit(_limit)
_numbering = threading.Lock()
_shelves: dict[int, int] = {}  # the number of each size of blocks


def keep_memory(limit: int) -> int:
    """Say how many bytes of freed tables to keep for the next; 0 for none.

    Returns the limit that was in force. It is 384 MiB at first.

    >>> import boxsum
    >>> before = boxsum.keep_memory(0)
    >>> boxsum.keep_memory(before)
    0
    """
    global _limit
    wanted = int(limit)
    if wanted < 0:
        raise ValueError(f"cannot keep {limit} bytes")
    before, _limit = _limit, min(wanted, sys.maxsize)
    kept_bytes()
    return before


def kept_bytes() -> int:
    """How many bytes are kept, once the limit has been seen to."""
    return _core.limit(_limit)


def check_room(size: int) -> None:
    """Raises a MemoryError where the machine, a container or a limit of the process has no memory for this many bytes."""
    if size < _ASKED:
        return
    try:
        call("room", min(size, sys.maxsize))
    except MemoryError:
        _core.limit(0)  # what is kept of freed tables may make room
        kept_bytes()
        call("room", min(size, sys.maxsize))


def _new_block(shelf: int, size: int, layout: bytes) -> Any:
    """A lease of new pages."""
    # Memory that forked processes share would be written by all of them.
    private = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    try:
        pages = mmap.mmap(-1, size + _HUGE_PAGE, **private)
    except (OSError, OverflowError, ValueError):
        raise MemoryError(f"no memory for a table of {size} bytes") from None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            pages.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a kernel without huge pages
            pass
    all_bytes = np.frombuffer(pages, np.uint8)
    start = -all_bytes.ctypes.data % _HUGE_PAGE
    return _core.add(shelf, all_bytes[start : start + size], layout)


def _after_fork() -> None:
    global _numbering
    _numbering = threading.Lock()  # a thread that had it is not here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

_asarray, _empty, _lend = np.asarray, np.empty, _core.lend


class Layout:
    """How tables of one shape and type lie in memory.

    The first ``axes`` of the shape are rows and columns, and slices before them;
    one more is channels. ``large`` is from how many bytes on they have pages of their
    own. Rows start on lines, unless they are ``dense``.
    """

    __slots__ = ("bytes", "dtype", "flat", "lead", "shape", "shelf", "size", "strides")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, axes: int, large: int, dense: bool = False) -> None:
        self.shape, self.dtype, self.shelf, self.lead = shape, dtype, -1, 0
        self.strides: tuple[int, ...] | None = None  # of a table in memory of NumPy's whose rows start on lines
        item = dtype.itemsize
        pixel = (shape[axes] if len(shape) > axes else 1) * item
        row = shape[axes - 1] * pixel
        rows = shape[0] if axes == 2 else shape[0] * shape[1]
        self.bytes = row * rows
        if self.bytes < _PADDED or self.bytes < large and (dense or row <= _SHORT_ROW):
            return
        stride = -(-row // _LINE) * _LINE if row > _SHORT_ROW and not dense else row
        self.lead = lead = 0 if dense else -pixel % _LINE  # entry (1, 0) starts a line
        strides: tuple[int, ...] = (stride, pixel) if axes == 2 else (stride * shape[1], stride, pixel)
        if len(shape) > axes:
            strides += (item,)
        whole, self.bytes = self.bytes, lead + rows * stride
        if whole < large:
            self.strides = strides
            return
        bytes_ = self.bytes
        # A few sizes serve all tables: what is not touched takes no memory.
        step = max(_HUGE_PAGE, 1 << max(bytes_.bit_length() - 4, 0))
        self.size = -(-bytes_ // step) * step
        if self.size > sys.maxsize - _HUGE_PAGE:
            raise MemoryError(f"no memory for a table of {self.size} bytes")
        self.flat = flat_array(lead, shape, strides, dtype)
        with _numbering:
            self.shelf = _shelves.setdefault(self.size, len(_shelves))

    def new(self) -> np.ndarray:
        """An array for a table, its contents undefined."""
        if self.strides is not None:
            memory = _empty(self.bytes + _LINE, np.uint8)
            return np.ndarray(self.shape, self.dtype, memory, -memory.ctypes.data % _LINE + self.lead, self.strides)
        if self.shelf < 0:
            return _empty(self.shape, self.dtype)
        lease = _lend(self.shelf, self.flat)
        if lease is None:
            check_room(self.bytes)
            lease = _new_block(self.shelf, self.size, self.flat)
        return _asarray(lease)


_layouts: dict[tuple, Layout] = {}


def layout_of(shape: tuple[int, ...], dtype: np.dtype, axes: int = 2, second: bool = False) -> Layout:
    """The layout of a table, perhaps of one beside another."""
    key = (shape, dtype, axes, second)
    layout = _layouts.get(key)
    if layout is None:
        if len(_layouts) > 1000:
            _layouts.clear()
        layout = _layouts[key] = Layout(shape, dtype, axes, _SECOND if second else _LARGE)
    return layout


def new_tables(*layouts: Layout) -> list[np.ndarray]:
    """Arrays for tables that are written together, where there is memory for all of them."""
    if sum(layout.bytes for layout in layouts) < _ASKED:
        return [layout.new() for layout in layouts]
    leases = [None if layout.shelf < 0 else _lend(layout.shelf, layout.flat) for layout in layouts]
    check_room(sum(layout.bytes for layout, lease in zip(layouts, leases) if lease is None))
    return [
        layout.new() if layout.shelf < 0 else _asarray(_new_block(layout.shelf, layout.size, layout.flat) if lease is None else lease)
        for layout, lease in zip(layouts, leases)
    ]


def new_table(shape: tuple[int, ...], dtype: np.dtype, axes: int = 2, second: bool = False) -> np.ndarray:
    """An array for a table, its contents undefined, see :func:`layout_of`."""
    return layout_of(shape, dtype, axes, second).new()


_images: dict[tuple, Layout] = {}


def new_image(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array for an image, without gaps, its contents undefined."""
    layout = _images.get((shape, dtype))
    if layout is None:
        if len(_images) > 1000:
            _images.clear()
        layout = _images[shape, dtype] = Layout(shape, dtype, 2, _LARGE, dense=True)
    return layout.new()
