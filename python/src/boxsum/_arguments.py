"""Checks and conversions of arguments."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np

from ._native import call
from ._types import overlap, whole

#: The kinds of tables, and the questions about boxes, numbered as in the library.
UPRIGHT: int
TILTED: int
VOLUME: int
UPRIGHT, TILTED, VOLUME = range(3)
SUM, MEAN, VARIANCE, DEVIATION, AREA = range(5)

NOT_WHOLE = "coordinates must be integers (numpy.rint rounds them)"


def axes_of(shape: tuple[int, ...], kind: int) -> int:
    """Return the number of axes of an image or volume, without channels."""
    axes = 3 if kind == VOLUME else 2
    if len(shape) not in (axes, axes + 1):
        what = "a volume must have shape (D, H, W) or (D, H, W, C)" if kind == VOLUME else "an image must have shape (H, W) or (H, W, C)"
        raise ValueError(f"{what}, got {tuple(shape)}")
    return axes


_COLORS, _MANY = 4, 16  # the most channels of color, and the most that images with channels commonly have


def warn_of_planes(image: Any, axes: bool = True) -> bool:
    """Warn of an array that looks like planes of color, (C, H, W), where it is taken for an image with channels, (H, W, C).

    With `axes`, the caller has an ``axes`` argument, which says what is meant. It reports
    whether there was reason to warn.
    """
    shape: Any = getattr(image, "shape", ())
    if len(shape) != 3 or not 0 < shape[0] <= _COLORS or min(shape[1:]) <= _MANY:
        return False
    rows = f"{shape[0]} row{'s' if shape[0] > 1 else ''} of {shape[1]} pixels with {shape[2]} channels"
    how = "axes=(-2, -1) or " if axes else ""
    otherwise = "; axes=(0, 1) means the same without this warning" if axes else ""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "boxsum":
        frame, level = frame.f_back, level + 1
    warnings.warn(
        f"image of shape {tuple(shape)} is read as {rows}. If its first axis is the channels, pass {how}numpy.moveaxis(image, 0, -1){otherwise}",
        stacklevel=level,
    )
    return True


def arrays_out(out: Any, count: int, kind: Any) -> list[Any]:
    """Return the arrays of an ``out`` argument, with None for those to be allocated."""
    if out is None:
        return [None] * count
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(outs) != count:
        raise ValueError(f"out must hold {count} arrays, one for each table, got {len(outs)}" if count > 1 else f"out must be one array, got {len(outs)}")
    for o in outs:
        if o is not None and not isinstance(o, kind):
            raise TypeError(f"out must be an array of the same kind as the image, not {type(o).__name__}")
    return outs


def refuse_overlap(writes: Any, reads: Any = (), in_place: bool = False) -> None:
    """Raise a ValueError if an array would be written over itself, another, or an input.

    In place, an array may be written over an identical one, element by element. All images of
    a batch are considered together.
    """
    writes = [array for array in writes if array is not None]
    for i, one in enumerate(writes):
        if _folded(one):
            raise ValueError(f"out must not have elements that share memory, got shape {one.shape} with strides {one.strides}")
        if any(overlap(one, other) for other in writes[:i]):
            raise ValueError(f"out must hold arrays that do not share memory, got array {i} in the memory of an earlier one")
        for other in reads:
            if other is not None and overlap(one, other) and not (in_place and _place(one) == _place(other)):
                itself = "the image itself, or an array with" if in_place else "an array with"
                raise ValueError(f"out must not share memory with the input (pass {itself} memory of its own)")


def _place(array: np.ndarray) -> tuple[Any, ...]:
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype


def _folded(array: np.ndarray) -> bool:
    """Report whether elements may share memory: an axis steps by less than the shorter ones cover."""
    reach = array.itemsize
    for step, n in sorted((abs(step), n) for step, n in zip(array.strides, array.shape) if n > 1):
        if step < reach:
            return array.size > 0
        reach += step * (n - 1)
    return False


def same_type(dtype: Any, out: np.dtype) -> np.dtype:
    """Return the type of `out`, which must be the requested one."""
    if dtype is not None and np.dtype(dtype) != out:
        raise TypeError(f"out must have type {np.dtype(dtype)} like dtype, got {out}")
    return out


def thread_count(workers: int | None) -> int:
    """Return the library's number for `workers`, 0 for the default."""
    return 0 if workers is None else whole(workers, "workers", 1)


def device_number(device: Any) -> int:
    """Return the library's number for a device, or -1 for the CPU."""
    if device is None or device == "cpu":
        return -1
    if not isinstance(device, str):
        raise TypeError(f"device must be a string such as 'cuda' or 'cuda:0', not {device!r}")
    return call("device", device.encode())


def plain(array: Any) -> np.ndarray:
    """Return an argument in host memory as a NumPy array that is no subclass.

    All arguments pass through here: masks are refused, also those of parts of other libraries'
    arrays and of arrays in lists.
    """
    if type(array) is np.ndarray:
        return array
    parts = array if isinstance(array, (list, tuple)) else (array if isinstance(array, np.ndarray) else np.asanyarray(array),)
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise ValueError("image has masked elements: pass .filled(0) to count them as 0, or .data to ignore the mask")
    return np.asarray(array if parts is array else parts[0])


def as_pixels(image: Any, stores: bool = False) -> np.ndarray:
    """Return an image or a volume in host memory as a NumPy array.

    With `stores`, the error for a path says how to make the table of an array in a store.
    """
    if image is None:
        raise TypeError("image is None (did imread find the file?)")
    if isinstance(image, (str, os.PathLike)):
        how = "; for an array in a Zarr store, name one for its table too: out='table.zarr'" if stores else ""
        raise TypeError(f"image must be an array, got the path {os.fspath(image)!r} (read the file first{how})")
    return plain(image)


def as_boxes(boxes: Any, *columns: int) -> np.ndarray:
    """Return boxes as an int64 array whose last axis has one of these lengths."""
    boxes = plain(boxes)
    if boxes.size == 0 and boxes.ndim < 2:
        boxes = np.zeros((0, columns[0]), np.int64)
    if boxes.ndim == 0 or boxes.shape[-1] not in columns:
        numbers = " or ".join(map(str, columns))
        raise ValueError(f"boxes must have {numbers} numbers along the last axis, got shape {boxes.shape}")
    if boxes.dtype.kind not in "iu" and boxes.size:
        if boxes.dtype.kind != "f":
            raise TypeError(f"boxes must be integers, got {boxes.dtype}")
        given = boxes
        with np.errstate(invalid="ignore"):  # for NaN and values out of range
            boxes = given.astype(np.int64)
        if not np.array_equal(boxes, given):
            raise ValueError(NOT_WHOLE)
    if boxes.dtype == np.uint64 and boxes.size and boxes.max() > np.uint64(np.iinfo(np.int64).max):
        raise ValueError(f"boxes must fit in int64, got {boxes.max()}")
    return np.ascontiguousarray(boxes, np.int64)


def described(array: Any) -> str:
    """Return the type and shape of an array, for messages."""
    return f"{array.dtype} with shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__


def results(shape: tuple[int, ...], dtype: Any, out: np.ndarray | None, *inputs: Any) -> np.ndarray:
    """Return the array for results, which must not share memory with the inputs."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype or not out.flags.carray:
        raise ValueError(f"out must be a C-contiguous, aligned and writeable array of {np.dtype(dtype)} with shape {shape}, got {described(out)}")
    if any(isinstance(given, np.ndarray) and overlap(out, given) for given in inputs):
        raise ValueError("out must not share memory with the input (pass an array with memory of its own)")
    return out
