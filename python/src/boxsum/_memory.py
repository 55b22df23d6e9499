"""Memory for tables.

Large tables lie on huge pages, with rows that start where the engine can write
past the caches. When one is freed, its memory is kept for the next: to fault
new pages in takes longer than to make a table.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

_LINE = 64
_HUGE_PAGE = 2 << 20
_LARGE = 3 << 20  # bytes from which on the engine writes past the caches
_SHORT_ROW = 8 * _LINE  # rows up to this have no gaps

_limit = 256 << 20
_kept: list[_Block] = []


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


class _Block:
    """Pages for one table at a time."""

    __slots__ = ("size", "pages", "start", "lease")

    def __init__(self, size: int) -> None:
        self.size = size
        try:
            self.pages = mmap.mmap(-1, size + _HUGE_PAGE)
        except (OSError, OverflowError, ValueError):
            raise MemoryError(f"no memory for a table of {size} bytes") from None
        if hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                self.pages.madvise(mmap.MADV_HUGEPAGE)
            except OSError:  # a kernel without huge pages
                pass
        self.start = -ctypes.addressof(ctypes.c_char.from_buffer(self.pages)) % _HUGE_PAGE
        self.lease = _lease_of(size)

    def lend(self) -> Any:
        """The memory for one array, whose base it is; it comes back with it."""
        lease = self.lease.from_buffer(self.pages, self.start)
        lease.block = self
        return lease


_leases: dict[int, Any] = {}


def _lease_of(size: int) -> Any:
    """A type of buffer with so many bytes that gives its block back."""
    lease = _leases.get(size)
    if lease is None:
        lease = type("Lease", (ctypes.c_char * size,), {"__del__": _take_back})
        _leases[size] = lease
    return lease


# Appending to a list, and removing from it, are single steps: no lock is needed,
# which a finaliser could not wait for.
def _take_back(lease: Any, kept: list[_Block] = _kept) -> None:
    block = lease.__dict__.pop("block", None)
    if block is not None and block.size <= _limit:
        kept.append(block)
        _trim()


def _trim() -> None:
    while sum(block.size for block in list(_kept)) > _limit:
        try:
            _kept.pop(0)
        except IndexError:
            return


def _block(size: int) -> _Block:
    """A block of that many bytes or a little more, kept or new."""
    for block in list(_kept):
        if size <= block.size <= size + size // 4 + _HUGE_PAGE:
            try:
                _kept.remove(block)
            except ValueError:  # another thread has it
                continue
            return block
    return _Block(-(-size // _HUGE_PAGE) * _HUGE_PAGE)


def new_table(shape: tuple[int, ...], dtype: np.dtype, axes: int = 2) -> np.ndarray:
    """An array for a table, its contents undefined.

    The first ``axes`` of the shape are rows and columns, and slices before them;
    one more is channels.
    """
    item = dtype.itemsize
    channels = shape[axes] if len(shape) > axes else 1
    row = shape[axes - 1] * channels * item
    rows = shape[0] if axes == 2 else shape[0] * shape[1]
    if row * rows < _LARGE:
        return np.empty(shape, dtype)
    pixel = channels * item
    stride = -(-row // _LINE) * _LINE if row > _SHORT_ROW else row
    lead = -pixel % _LINE  # entry (1, 0) starts a line
    lease = _block(lead + rows * stride).lend()
    strides: tuple[int, ...] = (stride, pixel) if axes == 2 else (stride * shape[1], stride, pixel)
    if len(shape) > axes:
        strides += (item,)
    return np.ndarray(shape, dtype, lease, lead, strides)
