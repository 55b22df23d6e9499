"""Types of sums, and the conversion of other arrays to supported pixel types."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ._pairs import SUMS

# The sum types of each pixel type, the default first. Signed and unsigned sums of one
# size have the same bits.
_SUMS: dict[str, tuple[str, ...]] = {}
for _pixel, _sum in SUMS:
    _both = (_sum,) if _sum[0] == "f" else (_sum, {"u": "i", "i": "u"}[_sum[0]] + _sum[1])
    _SUMS[_pixel] = tuple(dict.fromkeys(_SUMS.get(_pixel, ()) + _both))

# Lossless conversions for pixel types that have no sums themselves.
_COPIES = {pixel: copy for pixel, copy in {"b1": "u1", "i1": "i2", "f2": "f4"}.items() if pixel not in _SUMS}

HALF = np.dtype("f2")  # not in SUMS: has tables of images only


def half_sums(dtype: Any) -> np.dtype:
    """Return the type of the sums of float16 pixels for a requested one."""
    wanted = np.dtype("f8") if dtype is None else np.dtype(dtype).newbyteorder("=")
    if wanted not in (np.dtype("f4"), np.dtype("f8")):
        raise _no_table(HALF, wanted, "f4")
    return wanted


#: The type of the sums by pixel type and requested type. Other pairs go through
#: :func:`convert`.
sums: dict[tuple[np.dtype, object], np.dtype] = {}
#: The type of the squares by pixel type. Sums of squared 32-bit integers would not fit 64 bits.
squares = {np.dtype(pixel): np.dtype("u8" if pixel in ("u1", "u2", "i2") else "f8") for pixel in _SUMS}

squares[HALF] = np.dtype("f8")

for _pixel, _all in _SUMS.items():
    sums[np.dtype(_pixel), None] = np.dtype(_all[0])
    for _sum in _all:
        sums[np.dtype(_pixel), np.dtype(_sum)] = np.dtype(_sum)
        sums[np.dtype(_pixel), np.dtype(_sum).type] = np.dtype(_sum)


def roomy(sums: np.dtype, shape: tuple[Any, ...], signed: bool = False) -> np.dtype:
    """Return the default type of sums for an image of this shape, which holds every box.

    32-bit sums are the default only for 8-bit pixels.
    """
    if sums.itemsize == 4 and sums.kind in "iu" and math.prod(shape) > ((1 << 31) - 1 if signed else (1 << 32) - 1) // 255:
        return np.dtype(sums.kind + "8")
    return sums


# Integers that are converted to float64 for float64 sums, unless they have such sums themselves.
_AS_FLOATS = tuple(pixel for pixel in ("i4", "u4", "i8", "u8") if "f8" not in _SUMS.get(pixel, ()))


def convert(image: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.dtype]:
    """Return an image with pixels that have sums of a type, and that type."""
    wanted = None if dtype is None else np.dtype(dtype).newbyteorder("=")
    pixel = image.dtype.newbyteorder("=")
    name = _COPIES.get(pixel.str[1:], pixel.str[1:])
    if wanted == np.float64 and name in _AS_FLOATS:
        name = "f8"
    target = np.dtype(name) if name in _SUMS else None
    if target is None or (target, wanted) not in sums:
        raise _no_table(pixel, wanted, name)
    if pixel.kind == "b":
        image = as_bytes(image)
    if image.dtype != target:
        image = image.astype(target)
    return image, sums[target, wanted]


def as_bytes(mask: np.ndarray) -> np.ndarray:
    """Return bools as 0 and 1, without a copy if they are stored that way.

    Others, such as those of Pillow's images of mode "1", store 255 for true.
    """
    stored = mask.view(np.uint8)
    if stored.size and stored.max() > 1:
        return (stored != 0).view(np.uint8)
    return stored


def narrow(image: np.ndarray, dtype: Any = None) -> np.ndarray:
    """Return 64-bit integers as 32-bit ones if all fit, and otherwise as float64.

    They must fit 32 bits for sums of integers, and be exact in float64 by default. With
    float64 sums requested they are rounded.
    """
    if image.dtype.kind not in "iu" or image.dtype.itemsize < 8:
        return image
    low, high = (int(image.min()), int(image.max())) if image.size else (0, 0)
    for target in (np.int32, np.uint32) if image.dtype.kind == "i" else (np.uint32,):
        if np.iinfo(target).min <= low and high <= np.iinfo(target).max:
            return image.astype(target)
    if dtype is None and max(-low, high) > 1 << 53:
        raise TypeError(f"values of {image.dtype} from {low} to {high} do not fit in 2**53, up to which float64 is exact (use .astype(float) to round them)")
    if dtype is not None and np.dtype(dtype).kind in "iu":
        raise TypeError(f"values of {image.dtype} from {low} to {high} do not fit in 32 bits (use dtype=float to round them)")
    return image.astype(np.float64)


def whole(value: Any, name: str, least: int, most: int = (1 << 31) - 1) -> int:
    """Return a whole number in a range, checked before the library truncates it to 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} must be from {least} to {most}, got {number}")
    return number


def overlap(one: np.ndarray, other: np.ndarray) -> bool:
    """Report whether two arrays share memory."""
    steps: Any = 1 << 16  # more than ordinary arrays need
    try:
        return np.shares_memory(one, other, steps)
    except Exception:  # numpy.exceptions.TooHardError, which moved between NumPy versions
        return True


def splits(image: np.ndarray, dtype: Any) -> bool:
    """Report whether pixels have 64 bits, whose halves are summed separately."""
    return image.dtype.kind in "iu" and image.dtype.itemsize == 8 and (dtype is None or np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize == 8)


def _no_table(pixel: np.dtype, wanted: np.dtype | None, name: str) -> TypeError:
    have = _SUMS.get(name, ("u8", "i8") if name in ("u8", "i8") else ())
    if have:
        have += ("f8",) if name in _AS_FLOATS else ()
        return TypeError(f"pixels of {pixel.name} have no sums of {wanted}, only {', '.join(np.dtype(s).name for s in have)}")
    return TypeError(f"pixels of {pixel} cannot be summed, only integers and floats of up to 64 bits")
