"""Which sums pixels have, and how other arrays become ones with pixels."""

from __future__ import annotations

import numpy as np

# The sums of each type of pixel, the usual one first. Signed and unsigned sums
# of a size have the same bits.
_SUMS = {
    "u1": ("u4", "i4", "u8", "i8", "f4", "f8"),
    "u2": ("u8", "i8", "f8"),
    "u4": ("u8", "i8", "u4", "i4"),
    "i2": ("i8", "u8"),
    "i4": ("i8", "u8"),
    "f4": ("f8", "f4"),
    "f8": ("f8",),
}

# What other arrays are copied to, without loss.
_COPIES = {"b1": "u1", "i1": "i2", "f2": "f4"}

_SQUARES = {"u1": "u8", "u2": "u8", "u4": "u8", "i2": "u8", "i4": "u8", "f4": "f8", "f8": "f8"}

#: The type of the sums for that of the pixels and the one that was asked for.
#: What is not here goes through :func:`convert`.
sums: dict[tuple[np.dtype, object], np.dtype] = {}
#: The type of the squares.
squares = {np.dtype(pixel): np.dtype(square) for pixel, square in _SQUARES.items()}

for _pixel, _all in _SUMS.items():
    sums[np.dtype(_pixel), None] = np.dtype(_all[0])
    for _sum in _all:
        sums[np.dtype(_pixel), np.dtype(_sum)] = np.dtype(_sum)
        sums[np.dtype(_pixel), np.dtype(_sum).type] = np.dtype(_sum)


def convert(image: np.ndarray, dtype: object) -> tuple[np.ndarray, np.dtype]:
    """The image with pixels that have sums of a type, and that type."""
    wanted = None if dtype is None else np.dtype(dtype).newbyteorder("=")
    pixel = image.dtype.newbyteorder("=")
    name = _COPIES.get(pixel.str[1:], pixel.str[1:])
    if name == "u1" and pixel.kind == "b":
        image = image.view(np.uint8)
    if wanted == np.float64 and name in ("i2", "i4", "u4", "i8", "u8"):
        name = "f8"
    target = np.dtype(name) if name in _SUMS else None
    if target is None or (target, wanted) not in sums:
        raise _no_table(image.dtype, wanted, name)
    if image.dtype != target:
        image = image.astype(target)
    return image, sums[target, wanted]


def splits(image: np.ndarray, dtype: object) -> bool:
    """Whether these are pixels of 64 bits, whose halves are summed apart."""
    return image.dtype.kind in "iu" and image.dtype.itemsize == 8 and (dtype is None or np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize == 8)


def _no_table(pixel: np.dtype, wanted: np.dtype | None, name: str) -> TypeError:
    if name in _SUMS:
        have = ", ".join(np.dtype(s).name for s in _SUMS[name])
        return TypeError(f"pixels of {pixel.name} have no sums of {wanted}: they have {have}")
    if pixel.kind in "iu" and pixel.itemsize == 8:
        return TypeError(f"pixels of {pixel.name} have no sums of {wanted}: they have uint64, int64, float64")
    return TypeError(f"pixels of {pixel} cannot be summed: take integers or floats of up to 64 bits")
