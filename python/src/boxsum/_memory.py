"""Memory for tables.

Large tables lie on huge pages, with rows that start where the engine can write
past the caches. When one is freed, its memory is kept for the next: to fault
new pages in takes longer than to make a table.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import sys
from typing import Any

import numpy as np

_LINE = 64
_HUGE_PAGE = 2 << 20
_LARGE = 3 << 20  # bytes from which on a table has pages of its own: the engine then writes past the caches
_SHORT_ROW = 8 * _LINE  # rows up to this have no gaps

_limit = 256 << 20
_kept: dict[int, list[_Block]] = {}  # blocks that are free, by their size
_used: dict[int, int] = {}  # when one of a size was last freed, in the order of a clock
_clock = itertools.count(1)


def keep_memory(limit: int) -> int:
    """Say how many bytes of freed tables to keep for the next; 0 for none.

    Returns the limit that was in force. It is 256 MiB at first.

    >>> import boxsum
    >>> before = boxsum.keep_memory(0)
    >>> boxsum.keep_memory(before)
    0
    """
    global _limit
    if limit < 0:
        raise ValueError(f"cannot keep {limit} bytes")
    before, _limit = _limit, int(limit)
    _trim()
    return before


def kept_bytes() -> int:
    """How many bytes are kept."""
    return sum(size * len(free) for size, free in list(_kept.items()))


def _trim() -> None:
    """Frees what is kept beyond the limit, first of the sizes that were not used for longest."""
    for size in sorted(list(_kept), key=lambda size: _used.get(size, 0)):
        free = _kept[size]
        while free and kept_bytes() > _limit:
            try:
                free.pop()
            except IndexError:  # another thread has it
                break


class _Block:
    """Pages for one table at a time."""

    __slots__ = ("free", "lease", "pages", "start")

    def __init__(self, size: int, free: list[_Block]) -> None:
        # Memory that forked processes share would be written by all of them.
        private = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
        try:
            self.pages = mmap.mmap(-1, size + _HUGE_PAGE, **private)
        except (OSError, OverflowError, ValueError):
            raise MemoryError(f"no memory for a table of {size} bytes") from None
        if hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                self.pages.madvise(mmap.MADV_HUGEPAGE)
            except OSError:  # a kernel without huge pages
                pass
        self.start = -ctypes.addressof(ctypes.c_char.from_buffer(self.pages)) % _HUGE_PAGE
        self.lease = _lease_of(size)
        self.free = free


_leases: dict[int, Any] = {}


def _lease_of(size: int) -> Any:
    """The type of buffer that tables in blocks of a size are made over.

    A buffer is the base of its array, and of all views of that. When the last of
    them goes, its block is free.
    """
    lease = _leases.get(size)
    if lease is None:
        lease = _leases[size] = type("Lease", (ctypes.c_char * size,), {"__del__": _take_back})
    return lease


# To append to a list and to pop from it are single steps: no lock is needed, which
# a finaliser could not wait for.
def _take_back(lease: Any) -> None:
    block = lease.block
    _used[len(lease)] = next(_clock)
    block.free.append(block)
    if kept_bytes() > _limit:
        _trim()


class _Plan:
    """How tables of one shape lie in memory."""

    __slots__ = ("free", "lead", "size", "strides")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, axes: int) -> None:
        item = dtype.itemsize
        channels = shape[axes] if len(shape) > axes else 1
        row = shape[axes - 1] * channels * item
        rows = shape[0] if axes == 2 else shape[0] * shape[1]
        pixel = channels * item
        self.free: list[_Block] | None = None
        if row * rows < _LARGE:
            return
        stride = -(-row // _LINE) * _LINE if row > _SHORT_ROW else row
        self.lead = -pixel % _LINE  # entry (1, 0) starts a line
        bytes_ = self.lead + rows * stride
        # A few sizes serve all tables: what is not touched takes no memory.
        step = max(_HUGE_PAGE, 1 << max(bytes_.bit_length() - 4, 0))
        self.size = -(-bytes_ // step) * step
        strides = (stride, pixel) if axes == 2 else (stride * shape[1], stride, pixel)
        self.strides = strides + (item,) if len(shape) > axes else strides
        self.free = _kept.setdefault(self.size, [])


_plans: dict[tuple, _Plan] = {}
_ndarray, _empty = np.ndarray, np.empty


def new_table(shape: tuple[int, ...], dtype: np.dtype, axes: int = 2) -> np.ndarray:
    """An array for a table, its contents undefined.

    The first ``axes`` of the shape are rows and columns, and slices before them;
    one more is channels.
    """
    key = (shape, dtype, axes)
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) > 1000:
            _plans.clear()
        plan = _plans[key] = _Plan(shape, dtype, axes)
    free = plan.free
    if free is None:
        return _empty(shape, dtype)
    try:
        block = free.pop()
    except IndexError:
        block = _Block(plan.size, free)
    lease = block.lease.from_buffer(block.pages, block.start)
    lease.block = block
    return _ndarray(shape, dtype, lease, plan.lead, plan.strides)
