"""Which tables have pixels that are wider than their sums usually are of.

A table does not say what its pixels are. Means of boxes whose sum may not fit are summed
in parts that do, and for that sums of 32 bits are taken as those of bytes, and others as
those of 32 bits. Tables that were made of wider pixels are remembered, so that their parts
are smaller. A copy of one is not.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

_bits: dict[int, tuple[weakref.ref, int]] = {}  # of the pixels, by the id of a table


def remember(table: Any, sums: np.dtype, pixels: np.dtype) -> None:
    """Keeps in mind that the pixels of a table are wide, where they are."""
    if sums.kind in "iu" and sums.itemsize == 4 and pixels.itemsize > 1:
        remember_bits(table, 8 * pixels.itemsize)


def remember_bits(table: Any, bits: int) -> None:
    """Keeps in mind how many bits pixels have, for a table and for what it is a view of."""
    for known in _itself_and_base(table):
        key = id(known)
        try:
            _bits[key] = weakref.ref(known, lambda _, key=key: _bits.pop(key, None)), max(bits, pixel_bits(known))
        except TypeError:  # a library whose arrays know no weak references
            pass


def pixel_bits(table: Any) -> int:
    """The bits of a table's pixels, where they are known to be more than usual, and 0 otherwise."""
    if _bits:
        for known in _itself_and_base(table):
            found = _bits.get(id(known))
            if found is not None and found[0]() is known:
                return found[1]
    return 0


def _itself_and_base(table: Any) -> list:
    bases = (getattr(table, "base", None), getattr(table, "_base", None))  # those of PyTorch are private
    return [table] + [base for base in bases if hasattr(base, "dtype")]
