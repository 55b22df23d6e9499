"""Memory for tables.

Large tables lie on huge pages, and their rows start on cache lines, where they are
faster to write. The memory of a freed table is kept for the next one, because faulting
in new pages takes longer than computing a table. The extension module counts the users
of each block, in python/core/lease.c.
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
_LARGE = 2 << 20  # tables of at least this many bytes have pages of their own; smaller ones stay in the nearer caches, where the next reuses them
_PADDED = 1 << 19  # tables of at least this many bytes in NumPy's memory have rows that start on lines: 6 to 8% faster for uint8
_SECOND = 1 << 20  # as _LARGE, for a table beside another: the system takes back what several tables free at once
_ASKED = 64 << 20  # from this size on the library checks for memory first: pages are allocated when written, too late for an error
LARGE_SQUARES = _ASKED // 2  # from this size on a table of squares and its sums, which are not larger, may reach _ASKED together
_SHORT_ROW = 8 * _LINE  # rows up to this length have no gaps

_limit = 384 << 20  # three tables of an image of 4096x4096 bytes
_core.limit(_limit)
_numbering = threading.Lock()
_shelves: dict[int, int] = {}  # the number of the shelf for each block size


def keep_memory(limit: int) -> int:
    """Set how much memory of freed tables is kept for the next ones.

    Parameters
    ----------
    limit : int
        Maximum number of bytes to keep; 0 keeps none.

    Returns
    -------
    previous : int
        The previous limit. It is 384 MiB at first.

    Raises
    ------
    ValueError
        If `limit` is negative.

    Examples
    --------
    >>> import boxsum
    >>> before = boxsum.keep_memory(0)
    >>> boxsum.keep_memory(before)
    0
    """
    global _limit
    wanted = int(limit)
    if wanted < 0:
        raise ValueError(f"limit must be 0 or more bytes, got {limit}")
    before, _limit = _limit, min(wanted, sys.maxsize)
    kept_bytes()
    return before


def kept_bytes() -> int:
    """Enforce the limit and return the number of bytes that are kept."""
    return _core.limit(_limit)


def check_room(size: int) -> None:
    """Raise a MemoryError if this many bytes exceed the machine, a container or a process limit."""
    if size < _ASKED:
        return
    try:
        call("room", min(size, sys.maxsize))
    except MemoryError:
        _core.limit(0)  # freeing the memory that is kept may make room
        kept_bytes()
        call("room", min(size, sys.maxsize))


def _new_block(shelf: int, size: int, layout: bytes) -> Any:
    """Return a lease of new pages."""
    # Shared memory would be written by every forked process.
    private = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    try:
        pages = mmap.mmap(-1, size + _HUGE_PAGE, **private)
    except (OSError, OverflowError, ValueError):
        raise MemoryError(f"not enough memory for a table of {size} bytes") from None
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
    _numbering = threading.Lock()  # the thread that held it does not exist in the child


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

_asarray, _empty, _lend = np.asarray, np.empty, _core.lend


class Layout:
    """The memory layout of tables of one shape and type.

    The first `axes` axes of the shape are rows and columns, preceded by slices in a volume;
    one more is channels. Tables of at least `large` bytes have pages of their own. Rows
    start on cache lines unless the layout is `dense`.
    """

    __slots__ = ("bytes", "dtype", "flat", "lead", "shape", "shelf", "size", "strides")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, axes: int, large: int, dense: bool = False) -> None:
        self.shape, self.dtype, self.shelf, self.lead = shape, dtype, -1, 0
        self.strides: tuple[int, ...] | None = None  # set for tables in NumPy's memory whose rows start on lines
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
        # A few sizes serve all tables: untouched pages take no memory.
        step = max(_HUGE_PAGE, 1 << max(bytes_.bit_length() - 4, 0))
        self.size = -(-bytes_ // step) * step
        if self.size > sys.maxsize - _HUGE_PAGE:
            raise MemoryError(f"not enough memory for a table of {self.size} bytes")
        self.flat = flat_array(lead, shape, strides, dtype)
        with _numbering:
            self.shelf = _shelves.setdefault(self.size, len(_shelves))

    def new(self) -> np.ndarray:
        """Return an uninitialized array for a table."""
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


_layouts: dict[tuple[Any, ...], Layout] = {}


def layout_of(shape: tuple[int, ...], dtype: np.dtype, axes: int = 2, second: bool = False) -> Layout:
    """Return the layout of a table; `second` is for one written beside another."""
    key = (shape, dtype, axes, second)
    layout = _layouts.get(key)
    if layout is None:
        if len(_layouts) > 1000:
            _layouts.clear()
        layout = _layouts[key] = Layout(shape, dtype, axes, _SECOND if second else _LARGE)
    return layout


def new_tables(*layouts: Layout) -> list[np.ndarray]:
    """Return arrays for tables that are written together, if there is memory for all of them."""
    if sum(layout.bytes for layout in layouts) < _ASKED:
        return [layout.new() for layout in layouts]
    leases = [None if layout.shelf < 0 else _lend(layout.shelf, layout.flat) for layout in layouts]
    check_room(sum(layout.bytes for layout, lease in zip(layouts, leases) if lease is None))
    return [
        layout.new() if layout.shelf < 0 else _asarray(_new_block(layout.shelf, layout.size, layout.flat) if lease is None else lease)
        for layout, lease in zip(layouts, leases)
    ]


def new_table(shape: tuple[int, ...], dtype: np.dtype, axes: int = 2, second: bool = False) -> np.ndarray:
    """Return an uninitialized array for a table, see :func:`layout_of`."""
    return layout_of(shape, dtype, axes, second).new()


_images: dict[tuple[Any, ...], Layout] = {}


def new_image(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an uninitialized array for an image, without gaps."""
    layout = _images.get((shape, dtype))
    if layout is None:
        if len(_images) > 1000:
            _images.clear()
        layout = _images[shape, dtype] = Layout(shape, dtype, 2, _LARGE, dense=True)
    return layout.new()
