"""SciPy's functions: see :mod:`boxsum.compat.scipy`."""

from __future__ import annotations

import math
import operator
import sys
import warnings
from typing import Any, Tuple

import numpy as np

from .._filters import run

_BORDERS = {
    "reflect": "reflect", "grid-mirror": "reflect", "mirror": "reflect101", "nearest": "replicate",
    "wrap": "wrap", "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
_FLOATS = (np.float32, np.float64)
_TYPES = {np.dtype(t) for t in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")}
_EXACT = 1 << 53  # whole numbers up to this are exact in float64


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0, *, axes: Any = None
) -> np.ndarray:
    """Compute the mean of the window around every element, like ``scipy.ndimage.uniform_filter``.

    Parameters
    ----------
    input, size, output, mode, cval, origin, axes
        As for ``scipy.ndimage.uniform_filter``.

    Returns
    -------
    filtered : ndarray
        The means, in `output` if that is an array.

    Raises
    ------
    RuntimeError
        If a mode or a type is not supported, or a shape or the length of a sequence does
        not match.
    ValueError
        If an axis or an origin is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import scipy
    >>> scipy.uniform_filter(np.array([[0, 9, 0, 0, 7]], np.uint8), 3)
    array([[3, 3, 3, 2, 4]], dtype=uint8)
    """
    array = np.asarray(input)
    target = _output(output, array)
    which = _axes(axes, array.ndim)
    sizes, origins, modes = (_sequence(value, len(which)) for value in (size, origin, mode))
    each = []
    for axis, n, m, at in zip(which, sizes, modes, origins):
        if n > 1:
            each.append(_checked(int(n), _axis(axis, array), m, at))
            _check_types(array, target)  # SciPy filters along this axis before it looks at the next
    if each:
        _passes(array, target, each, cval)
    else:
        target[...] = array
    return target


def uniform_filter1d(input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0) -> np.ndarray:
    """Compute the mean of a window along one axis, like ``scipy.ndimage.uniform_filter1d``.

    Parameters
    ----------
    input, size, axis, output, mode, cval, origin
        As for ``scipy.ndimage.uniform_filter1d``.

    Returns
    -------
    filtered : ndarray
        The means, in `output` if that is an array.

    Raises
    ------
    RuntimeError
        If `size` is less than 1, `mode` or a type is not supported, or the shape of `output`
        does not match.
    ValueError
        If `axis` or `origin` is out of range.

    Examples
    --------
    >>> from boxsum.compat import scipy
    >>> scipy.uniform_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3)
    array([4, 3, 4, 1, 4, 6, 6, 3])
    """
    array = np.asarray(input)
    place = _axis(axis, array)
    if size < 1:
        raise RuntimeError(f"incorrect filter size: size must be 1 or more, got {size}")
    target = _output(output, array)
    each = [_checked(size, place, mode, origin)]
    _check_types(array, target)
    _passes(array, target, each, cval)
    return target


# A pass is an axis, and the size, the place and the border of the window along it.
_Pass = Tuple[int, int, int, str]


def _checked(size: Any, axis: Any, mode: Any, origin: Any) -> _Pass:
    """Return a pass, whose window must contain its element. SciPy's C code, which needs integers, runs last."""
    if size // 2 + origin < 0 or size // 2 + origin >= size:
        raise ValueError(f"invalid origin: origin must be from {-(size // 2)} to {(size - 1) // 2} for a size of {size}, got {origin}")
    if mode not in list(_BORDERS):  # it need not be hashable
        raise RuntimeError(f"boundary mode not supported: mode must be one of {', '.join(_BORDERS)}, got {mode!r}")
    if operator.index(size) > sys.maxsize:
        raise OverflowError("Python int too large to convert to C ssize_t")
    return operator.index(axis), operator.index(size), operator.index(origin), _BORDERS[mode]


def _check_types(array: np.ndarray, target: np.ndarray) -> None:
    """Raise RuntimeError for types that cannot be filtered."""
    for part in (array, target) if array.dtype.kind != "c" else (array.real, target.real):
        if part.dtype.newbyteorder("=") not in _TYPES:
            raise RuntimeError(f"data type not supported: elements must be bool, integers or floats of up to 64 bits, got {part.dtype}")


def _passes(array: np.ndarray, target: np.ndarray, each: list[_Pass], cval: Any) -> None:
    """Filter along one axis after the other."""
    if array.dtype.kind == "c":
        for part in ("real", "imag"):
            _passes(getattr(array, part), getattr(target, part), each, getattr(np.complex128(cval), part))
        return
    if isinstance(cval, (str, bytes)):
        raise TypeError(f"must be real number, not {type(cval).__name__}")
    outside = float(cval)
    inside = array.dtype.kind == "b" and (0 <= outside <= 1 or all(border != "constant" for _, _, _, border in each))
    if target.dtype.kind == "b" and not inside:
        raise RuntimeError("output must not be bool, which cannot hold means (use a float type)")
    if not target.flags.writeable:
        raise ValueError("output array is read-only")
    same = len({border for _, _, _, border in each}) == 1
    if array.ndim == 2 and target.dtype.kind == "f" and same and math.isfinite(outside):
        sizes, shifts = [1, 1], [0, 0]
        for axis, size, origin, _ in each:
            sizes[1 - axis], shifts[1 - axis] = size, -origin
        _mean(array, target, (sizes[0], sizes[1]), (shifts[0], shifts[1]), each[0][3], outside)
        return
    for axis, size, origin, border in each:
        _along(array, axis, size, origin, border, outside, target)
        array = target


def _output(output: Any, array: np.ndarray) -> np.ndarray:
    """Return the destination that an `output` argument stands for."""
    waves = array.dtype.kind == "c"
    if output is None:
        return np.empty(array.shape, np.promote_types(array.dtype, np.complex64) if waves else np.dtype(array.dtype.name))
    if isinstance(output, (type, np.dtype)):
        dtype = np.dtype(output)
        if waves and dtype.kind != "c":
            warnings.warn("promoting specified output dtype to complex", stacklevel=3)
            dtype = np.promote_types(dtype, np.complex64)
        return np.empty(array.shape, dtype)
    if isinstance(output, str):
        dtype = np.dtype(output)
        if waves and dtype.kind != "c":
            raise RuntimeError(f"output must have complex dtype for complex input, got {dtype}")
        if not issubclass(dtype.type, np.number):
            raise RuntimeError(f"output must have numeric dtype, got {dtype}")
        return np.empty(array.shape, dtype)
    given = np.asarray(output)
    if given.shape != array.shape:
        raise RuntimeError(f"output shape not correct: want {array.shape}, got {given.shape}")
    if waves and given.dtype.kind != "c":
        raise RuntimeError(f"output must have complex dtype for complex input, got {given.dtype}")
    return given


def _axis(axis: Any, array: np.ndarray) -> Any:
    """Return an axis counted from 0, which may still be a float."""
    if axis < -array.ndim or axis >= array.ndim:
        raise getattr(np, "exceptions", np).AxisError(f"axis {axis} is out of bounds for array of dimension {array.ndim}")
    return axis + array.ndim if axis < 0 else axis


def _axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return axes, of which :func:`_axis` checks those that are filtered."""
    if axes is None:
        return tuple(range(ndim))
    if np.isscalar(axes):
        scalar: Any = axes
        return (operator.index(scalar),)
    if not np.iterable(axes) or hasattr(axes, "__next__"):
        raise ValueError(f"axes must be an integer, iterable of integers, or None, got {axes!r}")
    found = [operator.index(axis) for axis in axes]
    for axis in found:
        if not -ndim <= axis < ndim:
            raise ValueError(f"specified axis: {axis} is out of range, want {-ndim} to {ndim - 1}")
    if len({axis % ndim for axis in found}) != len(found):
        raise ValueError(f"axes must be unique, got {axes!r}")
    return tuple(found)


def _sequence(value: Any, n: int) -> list[Any]:
    """Return a value for each of n axes."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * n
    values = list(value)
    if len(values) != n:
        raise RuntimeError(f"sequence argument must have length equal to input rank, {n}, got {len(values)}")
    return values


def _mean(source: np.ndarray, target: np.ndarray, size: tuple[int, int], shift: tuple[int, int], border: str, cval: float) -> None:
    """Compute the mean of the windows of a plane, as floats."""
    source = _readable(source, border, cval)
    direct = target.flags.carray and not np.may_share_memory(source, target) and target.dtype.isnative
    result = target if direct else np.empty(target.shape, target.dtype.newbyteorder("="))
    run(b"mean", source, result, size, border, cval, None, shift=shift)
    if not direct:
        target[...] = result


def _readable(source: np.ndarray, border: str, cval: float) -> np.ndarray:
    """Return pixels that the library can average, of a type that can hold the border value too."""
    native = source.dtype.newbyteorder("=")
    if native not in (np.uint8, np.uint16, *_FLOATS):
        return source.astype(np.float64)
    fits = native.kind == "f" or 0 <= cval <= np.iinfo(native).max and cval == int(cval)
    if border == "constant" and (not fits or native == np.float32 and abs(cval) > float(np.finfo(np.float32).max)):
        return source.astype(np.float64)
    return source


def _along(source: np.ndarray, axis: int, size: int, origin: int, border: str, cval: float, target: np.ndarray) -> None:
    """Filter along one axis, across the rows of a plane or down its columns."""
    if source.size == 0:
        return
    floats = target.dtype.kind == "f"
    if border == "constant" and not math.isfinite(cval) or not floats and not _sums_are_exact(source, size, border, cval):
        _store(_running_means(source, axis, size, origin, border, cval), target)
        return
    if source.ndim == 2 and axis == 1:
        plane, window, shift = source, (size, 1), (-origin, 0)
    else:
        front = np.moveaxis(source, axis, 0)
        plane, window, shift = front.reshape(front.shape[0], -1), (1, size), (0, -origin)
    plane = _readable(plane, border, cval)
    if not floats and plane.dtype.kind == "u" and size * np.iinfo(plane.dtype).max < 1 << 32:
        result = np.empty(plane.shape, np.uint32)
        run(b"sum", plane, result, window, border, cval, None, shift=shift)
        np.floor_divide(result, np.uint32(size), out=result)
    else:
        result = np.empty(plane.shape, target.dtype.newbyteorder("=") if floats else np.float64)
        run(b"mean", plane, result, window, border, cval, None, shift=shift)
    if plane.shape == target.shape:
        _store(result, target)
    else:
        there = np.moveaxis(target, axis, 0)
        _store(result.reshape(there.shape), there)


def _sums_are_exact(source: np.ndarray, size: int, border: str, cval: float) -> bool:
    """Report whether float64 holds every sum of a window, so that the order of additions does not matter."""
    if source.dtype.kind not in "biu" or source.itemsize > 4:
        return False
    most = 1 << 8 * source.itemsize
    if border == "constant":
        if not cval.is_integer():
            return False
        most = max(most, abs(int(cval)))
    return size * most <= _EXACT


def _running_means(source: np.ndarray, axis: int, size: int, origin: int, border: str, cval: float) -> np.ndarray:
    """Return the means along an axis with the additions of SciPy, one after the other, on which the last bit depends."""
    lines = np.moveaxis(source, axis, -1).astype(np.float64)
    n, before = lines.shape[-1], size // 2 + origin
    if border == "constant":
        padded = np.full((*lines.shape[:-1], n + size - 1), cval)
        padded[..., before : before + n] = lines
    else:
        padded = lines[..., _places(n, before, size - 1 - before, border)]
    with np.errstate(invalid="ignore", over="ignore"):
        first = np.add.accumulate(padded[..., :size], axis=-1)[..., -1:]
        sums = np.add.accumulate(np.concatenate([first, padded[..., size:] - padded[..., : n - 1]], axis=-1), axis=-1)
    return np.moveaxis(sums / size, -1, axis)


def _places(n: int, before: int, after: int, border: str) -> np.ndarray:
    """Return the element of a line of n that stands at each place, from `before` it to `after` it."""
    at = np.arange(-before, n + after)
    if border == "replicate":
        return np.clip(at, 0, n - 1)
    if border == "wrap":
        return at % n
    once = 0 if border == "reflect" else 1
    period = max(2 * (n - once), 1)
    at %= period
    return np.minimum(at, period - at - (1 - once))


def _store(values: np.ndarray, target: np.ndarray) -> None:
    """Write numbers to an array, floats to integers as SciPy's C code does on x86: toward zero, and beyond the type by their lowest bits."""
    dtype = target.dtype.newbyteorder("=")
    if values.dtype.kind != "f" or dtype.kind == "f":
        np.copyto(target, values, casting="unsafe")
        return
    values = np.trunc(values)
    narrow = dtype.itemsize < 4 or dtype == np.int32  # by way of int32
    least = -(1 << (31 if narrow else 63))
    with np.errstate(invalid="ignore"):
        inside = (values >= least) & (values < -least)
        if dtype == np.uint64:
            high = (values >= -least) & (values < -2 * least)
            wide = np.where(inside, values, least).astype(np.int64).view(np.uint64)
            wide[high] = values[high].astype(np.uint64)
            wide[values >= -2 * least] = 0
            np.copyto(target, wide)
            return
    wide = np.where(inside, values, least).astype(np.int64)
    np.copyto(target, wide, casting="unsafe")
