"""Tables of the valid pixels of images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from . import _foreign, _known, _shapes, _types
from ._arguments import UPRIGHT, arrays_out, as_pixels, axes_of, device_number, plain, refuse_overlap, same_type, thread_count
from ._host import COUNTS
from ._known import ValidTable
from ._memory import new_table
from ._native import LayoutError, call


def check_nan(nan: Any) -> None:
    """Raise a ValueError unless this says what to do about NaN."""
    if nan not in ("keep", "skip"):
        raise ValueError(f"nan must be 'keep' or 'skip', got {nan!r}")


def tables_of(image: Any, mask: Any, nan: str, dtype: Any, squares: bool, tilted: bool, out: Any, workers: int | None, device: str | None) -> tuple[ndarray, ...]:
    """Return the sums, the squares if requested, and the counts of valid pixels."""
    check_nan(nan)
    if tilted:
        raise ValueError("tilted must be False with mask or nan='skip', got True")
    number = device_number(device)
    hidden = np.ma.getmask(image)  # nomask for other arrays
    pixels = as_pixels(image.data if isinstance(image, np.ma.MaskedArray) else _foreign.on_host(image))
    axes = axes_of(pixels.shape, UPRIGHT)
    valid = None if mask is None or mask is True else as_mask(mask, pixels.shape)
    outs = arrays_out(out, 2 + bool(squares), ndarray)
    refuse_overlap(outs, (pixels, valid, None if hidden is np.ma.nomask else hidden))
    if hidden is not np.ma.nomask:
        shown = (~hidden).view(np.uint8)
        valid = shown if valid is None else shown * (valid.reshape(valid.shape + (1,) * (shown.ndim - valid.ndim)) != 0)
    if pixels.dtype.kind in "iu" and pixels.dtype.itemsize == 8:
        if valid is not None:  # pixels left out need not fit
            pixels = np.where(valid.reshape(valid.shape + (1,) * (pixels.ndim - valid.ndim)) != 0, pixels, pixels.dtype.type(0))
        pixels = _types.narrow(pixels, dtype)
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

    def make(one: ndarray, other: ndarray | None, shift: int) -> Any:
        nonlocal pixels, valid
        for attempt in range(2):
            try:
                return call("valid", pixels, valid, int(nan == "skip"), one, other, made[-1], threads, shift, number)
            except LayoutError:
                if attempt:
                    raise
                pixels = np.array(pixels, order="C", subok=False)
                valid = None if valid is None else np.array(valid, order="C")

    digits = None
    if squares:
        digits = _known.squared(make, made, outs, pixels, axes)
    else:
        make(made[0], None, 0)
    tables = [table if o is not None else table.view(ValidTable) for o, table in zip(outs, made[:-1])] + made[-1:]
    for i, table in enumerate(tables[:-1]):
        if isinstance(table, ValidTable):
            table.counts = made[-1]
        _known.note(table, pixels, i == 1, digits, made[-1])
    return tuple(tables)


def as_mask(mask: Any, shape: tuple[int, ...], lead: int = 0) -> ndarray:
    """Return a mask as bytes, with one channel or as many as an image of this shape.

    With `lead` leading batch axes, there is one mask for all images, or one for each.
    """
    mask = plain(_foreign.on_host(mask))
    if lead:
        if mask.shape not in (shape, shape[lead : lead + 2]):
            raise ValueError(f"mask must have shape {shape} like the images, or {shape[lead : lead + 2]} for all of them, got {mask.shape}")
    elif mask.ndim < 2 or mask.shape not in (shape, shape[:2], shape[:2] + (1,)):
        raise ValueError(f"mask must have the shape of the image, {shape}, or that without channels, got {mask.shape}")
    if mask.dtype == np.bool_:
        return mask.view(np.uint8)
    return mask if mask.dtype == np.uint8 else (mask != 0).view(np.uint8)


def of_masked(image: np.ma.MaskedArray, dtype: Any, squares: bool, tilted: bool, out: Any, workers: int | None, device: str | None) -> Any:
    """Return the tables of a masked array, which carry their counts."""
    if out is not None:
        raise ValueError(
            "image has masked elements: with mask=True, out must hold an array for the counts too; "
            "or pass .filled(0) to count them as 0, or .data to ignore the mask"
        )
    tables = tables_of(image, True, "keep", dtype, squares, tilted, None, workers, device)
    return tables[0] if len(tables) == 2 else tables[:-1]
