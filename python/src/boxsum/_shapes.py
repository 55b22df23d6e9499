"""Checks whether boxes go with a table, of an image or of a volume.

An array with three axes may be either: ``(H + 1, W + 1, C)`` or ``(D + 1, H + 1, W + 1)``.
Boxes of four numbers are for images, boxes of six for volumes. Slice ``[:, :, 0]`` tells them
apart: in a volume it is border, and zero. In an image it is the first channel, and zero only
if that is black.

- Boxes of four numbers are refused if :func:`volume` made the table, or the array that it is
  a view of. They are also refused if the slice is zero and the table grows as only sums
  along x do: more than 16 entries in the last axis, each total larger than the one before,
  and no entry of ``[-1]`` and ``[:, -1]`` smaller. An image with as many channels, a black
  one first, that all grow in this way has the same numbers. The error says what to do: leave
  the black channel out.
- Boxes of six numbers are refused if the slice is not zero, the borders of an image are, and
  the pixels have no gaps, unlike a part of a volume's table that was cut along x.

Everything else is taken as the boxes suggest.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

IMAGE_BOX = "boxes have six numbers, want four (x0, y0, x1, y1) for the table of an image"
VOLUME_BOX = "boxes have four numbers, want six (x0, y0, z0, x1, y1, z1) for the table of a volume"

_MANY_CHANNELS = 16

_volumes: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # tables that volume made


def remember_volume(tables: Any) -> None:
    """Remember that these tables are those of a volume."""
    for table in tables if isinstance(tables, tuple) else (tables,):
        if len(table.shape) == 3:
            try:
                _volumes[id(table)] = table
            except TypeError:  # the library's arrays do not support weak references
                pass


def forget_volume(out: Any) -> None:
    """Forget that an array was the table of a volume, because that of an image is written to it."""
    for known in (out, getattr(out, "base", None)):
        _volumes.pop(id(known), None)


def refuse_several(table: Any) -> None:
    """Raise a ValueError for the tuple of tables that :func:`integral` may return."""
    if isinstance(table, tuple) and len(table) in (2, 3) and all(getattr(t, "ndim", 0) >= 2 for t in table):
        raise ValueError(
            f"table must be one array, got a tuple of {len(table)} (integral returns one with squares=True or tilted=True: "
            "unpack it, as in sums, squares = boxsum.integral(image, squares=True))"
        )


def check(table: Any, axes: int, readable: bool = True) -> None:
    """Raise a ValueError if boxes with this number of axes do not go with a table.

    Entries of tables on a device are not read: that would wait for all work there.
    """
    n, shape = table.ndim, tuple(table.shape)
    if n not in (axes, axes + 1):
        if n == 2:
            raise ValueError(f"{IMAGE_BOX}, of shape {shape}")
        if n == 4:
            raise ValueError(f"{VOLUME_BOX}, of shape {shape}")
        raise ValueError(f"array of shape {shape} is not a table (boxsum.integral and boxsum.volume return tables)")
    if n != 3 or 0 in shape:
        return
    if axes == 2 and _is_volume(table, readable):
        raise ValueError(
            f"{VOLUME_BOX}, like this one of shape {shape} "
            "(if its last axis is channels and the first channel is black, query table[..., 1:])"
        )
    if axes == 3 and readable and _is_image(table):
        raise ValueError(f"{IMAGE_BOX}, like this one of shape {shape}, whose entries [:, :, 0] are not all zero")


def _is_volume(table: Any, readable: bool) -> bool:
    if table.shape[2] == 1 or readable and table.base is None and table[-1, -1, 0] != 0:
        return False
    for known in (table, getattr(table, "base", None)):
        if known is not None and _volumes.get(id(known)) is known:
            return True
    if not readable or table.shape[2] <= _MANY_CHANNELS:
        return False
    total = table[-1, -1]
    return total[0] == 0 and bool(np.all(total[1:] > total[:-1])) and _grows(table[-1]) and _grows(table[:, -1]) and not table[:, :, 0].any()


def _grows(sums: np.ndarray) -> bool:
    return bool(np.all(sums[:, 1:] >= sums[:, :-1]))


def _is_image(table: np.ndarray) -> bool:
    if _volumes.get(id(table)) is table or table.strides[1] != table.shape[2] * table.itemsize:
        return False
    return bool((table[-1, :, 0].any() or table[:, -1, 0].any()) and not table[0, -1].any() and not table[-1, 0].any())
