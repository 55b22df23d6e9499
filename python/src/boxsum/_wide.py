"""Which tables of 32-bit sums have pixels of more than 8 bits.

A table does not say what its pixels are, and sums of 32 bits are taken as those of
bytes: means of large boxes are then summed in parts that fit. Tables that were made of
wider pixels are remembered, so that their parts are smaller. A copy is not.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

# By the bytes of the pixels.
_tables: dict[int, weakref.WeakValueDictionary[int, Any]] = {2: weakref.WeakValueDictionary(), 4: weakref.WeakValueDictionary()}


def remember(table: Any, sums: np.dtype, pixels: np.dtype) -> None:
    """Keeps in mind what the pixels of a table are, and of what it is a view of."""
    if sums.kind not in "iu" or sums.itemsize != 4 or pixels.itemsize not in _tables:
        return
    for known in _itself_and_base(table):
        try:
            _tables[pixels.itemsize][id(known)] = known
        except TypeError:  # a library whose arrays know no weak references
            pass


def pixel_bytes(table: Any) -> int:
    """The bytes of a table's pixels, where they are known to be more than usual, and 0 otherwise."""
    for size in (4, 2):
        tables = _tables[size]
        if tables and any(tables.get(id(known)) is known for known in _itself_and_base(table)):
            return size
    return 0


def _itself_and_base(table: Any) -> list:
    bases = (getattr(table, "base", None), getattr(table, "_base", None))  # those of PyTorch are private
    return [table] + [base for base in bases if hasattr(base, "dtype")]
