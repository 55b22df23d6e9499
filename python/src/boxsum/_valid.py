"""Tables of the valid pixels of images, and questions about boxes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from . import _foreign, _host, _shapes, _types, _wide
from ._arguments import UPRIGHT, arrays_out, as_boxes, as_pixels, axes_of, plain, same_type, thread_count
from ._memory import new_table
from ._native import LayoutError, call

COUNTS = np.dtype("u4")


def refuse_masked(image: Any) -> None:
    """Raises a ValueError for an array with masked elements, where nobody asked for counts."""
    if isinstance(image, np.ma.MaskedArray) and np.ma.is_masked(image):
        raise ValueError(
            "an array with masked elements: mask=True leaves them out, and makes a table of counts too; "
            ".filled(0) counts them as 0, .data takes what lies under the mask"
        )


def tables(image: Any, mask: Any, nan: str, dtype: Any, squares: bool, tilted: bool, out: Any, workers: int | None, device: str | None) -> tuple[ndarray, ...]:
    """The sums, the squares if they are asked for, and the counts of valid pixels."""
    if nan not in ("keep", "skip"):
        raise ValueError(f"nan is {nan!r}: it must be 'keep' or 'skip'")
    if tilted:
        raise ValueError("valid pixels have no tilted table: leave out tilted, or mask and nan")
    if device not in (None, "cpu"):
        raise ValueError("tables of valid pixels are made on the processor: leave out device, or mask and nan")
    hidden = np.ma.getmask(image)  # nomask for arrays of other kinds
    pixels = as_pixels(image.data if isinstance(image, np.ma.MaskedArray) else _foreign.on_host(image))
    axes = axes_of(pixels.shape, UPRIGHT)
    valid = None if mask is None or mask is True else _as_mask(mask, pixels.shape)
    if hidden is not np.ma.nomask:
        shown = (~hidden).view(np.uint8)
        valid = shown if valid is None else shown * (valid.reshape(valid.shape + (1,) * (shown.ndim - valid.ndim)) != 0)
    if pixels.dtype.kind in "iu" and pixels.dtype.itemsize == 8:
        if valid is not None:  # what is left out need not fit
            pixels = np.where(valid.reshape(valid.shape + (1,) * (pixels.ndim - valid.ndim)) != 0, pixels, pixels.dtype.type(0))
        pixels = _types.narrow(pixels, dtype)
    outs = arrays_out(out, 2 + bool(squares), ndarray)
    if outs[0] is not None:
        dtype = same_type(dtype, outs[0].dtype)
    elif dtype is not None:
        dtype = np.dtype(dtype)
    for o in outs:
        if o is not None:
            _shapes.forget_volume(o)
    threads = thread_count(workers)
    sums = _types.sums.get((pixels.dtype, dtype))
    if sums is None:
        pixels, sums = _types.convert(pixels, dtype)
    if dtype is None:
        sums = _types.roomy(sums, pixels.shape[:axes])
    shape = tuple(n + 1 for n in pixels.shape[:axes]) + pixels.shape[axes:]
    types = [sums] + ([_types.squares[pixels.dtype]] if squares else []) + [COUNTS]
    made = [new_table(shape, t, axes, i > 0) if o is None else o for i, (o, t) in enumerate(zip(outs, types))]
    for attempt in range(2):
        try:
            call("valid", pixels, valid, int(nan == "skip"), made[0], made[1] if squares else None, made[-1], threads)
            break
        except LayoutError:
            if attempt:
                raise
            pixels = np.array(pixels, order="C", subok=False)
            valid = None if valid is None else np.array(valid, order="C")
    _wide.remember(made[0], made[0].dtype, pixels.dtype)
    return tuple(made)


def _as_mask(mask: Any, shape: tuple[int, ...]) -> ndarray:
    """A mask as bytes, of one channel or of as many as an image of this shape has."""
    mask = plain(_foreign.on_host(mask))
    if mask.ndim < 2 or mask.shape not in (shape, shape[:2], shape[:2] + (1,)):
        raise ValueError(f"a mask of shape {mask.shape} for an image of shape {shape}: it takes the same, or that without channels")
    if mask.dtype == np.bool_:
        return mask.view(np.uint8)
    return mask if mask.dtype == np.uint8 else (mask != 0).view(np.uint8)


def ask(table: Any, squares: Any, counts: Any, boxes: Any, what: int, out: ndarray | None, workers: int | None) -> Any:
    """The answer to one question about the valid pixels of every box."""
    _shapes.refuse_several(table)
    table, counts = _foreign.on_host(table), _foreign.on_host(counts)
    if squares is not None:
        squares = _foreign.on_host(squares)
    boxes = as_boxes(boxes, 4)
    _shapes.check(table, 2)
    if counts.dtype != COUNTS or counts.shape != table.shape:
        raise ValueError(f"counts of {counts.dtype} and shape {counts.shape}: they are of uint32, and of the shape of the table, {table.shape}")
    return _host.answer("boxes", (table, squares), boxes, 2, what, out, workers, counts)
