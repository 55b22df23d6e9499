"""OpenCV's conventions for arrays and errors."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any, Callable, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

# OpenCV's depths.
DEPTHS = {0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "i4", 5: "f4", 6: "f8"}

MOST_CHANNELS = 128


def raises_as_opencv(function: Function) -> Function:
    """Make a function raise ``cv2.error`` instead of ValueError."""

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except ValueError as wrong:
            raise error(str(wrong)) from None

    return called  # type: ignore[return-value]


def umats(function: Any, src: Any, outs: tuple[Any, ...], **named: Any) -> list[Any] | None:
    """Return the results as UMat if any argument is one, as OpenCV does, and None otherwise."""
    if not any(type(array).__name__ == "UMat" for array in (src, *outs)):
        return None
    cv2: Any = import_module("cv2")
    tables = function(src.get() if isinstance(src, cv2.UMat) else src, **named)
    results = []
    for table, out in zip(tables if isinstance(tables, tuple) else (tables,), outs):
        if isinstance(out, cv2.UMat):
            before = out.get()
            if before.shape == table.shape and before.dtype == table.dtype:
                cv2.copyTo(table, None, out)
                results.append(out)
                continue
        results.append(cv2.UMat(np.ascontiguousarray(table)))
    return results


def depth_name(depth: Any, usual: str) -> str | None:
    """Return the NumPy name of an OpenCV depth, `usual` if it is not positive, or None."""
    if depth is None:
        return usual
    if not isinstance(depth, (int, np.integer)) or isinstance(depth, bool):
        raise error(f"depth must be a number such as cv2.CV_32S, got {depth!r}")
    return usual if depth <= 0 else DEPTHS.get(int(depth) & 31)  # drops the number of channels, as in CV_32SC3


def as_array(src: Any) -> np.ndarray:
    """Return an array from an argument as OpenCV interprets it.

    A tuple of numbers is a column, and a single number is the first of four.
    """
    if src is None:
        raise error("image is None (did imread find the file?)")
    if isinstance(src, (int, float)):
        src = (src, 0, 0, 0)
    if isinstance(src, tuple):
        if not all(isinstance(number, (int, float)) for number in src):
            raise error("image must be an array or a tuple of numbers")
        return np.array(src, np.float64).reshape(-1, 1)
    return np.asarray(src)


def as_image(src: Any) -> np.ndarray:
    """Return an image with two axes, or three if it has channels."""
    if type(src) is not np.ndarray:
        src = as_array(src)
    shape = src.shape
    if len(shape) not in (1, 2, 3) or len(shape) == 3 and not 1 <= shape[2] <= MOST_CHANNELS:
        raise error(f"image must have shape (H, W) or (H, W, C) with at most {MOST_CHANNELS} channels, got {shape}")
    if len(shape) == 1:
        return src[None]
    return src[:, :, 0] if len(shape) == 3 and shape[2] == 1 else src


def reuse(out: Any, shape: tuple[int, ...], dtype: np.dtype, name: str) -> Any:
    """Return the array to write to if it fits the result, as in OpenCV, and None otherwise."""
    if out is None or isinstance(out, (tuple, int, float)):  # OpenCV writes to a copy of these
        return None
    if not isinstance(out, np.ndarray):
        raise error(f"{name} must be an array, not {type(out).__name__}")
    if not out.flags.writeable or out.dtype.kind not in "iufb" or out.dtype.str[1:] == "i8" or not in_rows(out):
        raise error(f"{name} must be a writeable C-contiguous array of a type that OpenCV supports, got {out.dtype} with shape {out.shape}")
    plain = out[:, :, 0] if out.ndim == 3 and out.shape[2] == 1 else out
    return plain if plain.shape == shape and plain.dtype == dtype and plain.flags.aligned else None


def in_rows(array: np.ndarray) -> bool:
    """Report whether an array is contiguous except for gaps after its rows."""
    step = array.itemsize
    for axis in reversed(range(array.ndim)):
        n, stride = array.shape[axis], array.strides[axis]
        if n > 1 and (stride != step if axis else stride < step):
            return False
        step *= n
    return True


def handed(result: np.ndarray, given: Any, out: Any) -> np.ndarray:
    """Return the destination that the caller passed if the result was written there."""
    return result if out is None else given


class _Error(ValueError):
    """The exception raised if OpenCV is not installed."""


def error_type() -> type[Exception]:
    """Return ``cv2.error``, or our own type if OpenCV is not installed."""
    try:
        import cv2
    except ImportError:
        return _Error
    return cv2.error


def error(message: str) -> Exception:
    """Return a ``cv2.error`` with a message."""
    return error_type()(message)
