"""SciPy's functions: see :mod:`boxsum.compat.scipy`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .._filters import run

_BORDERS = {
    "reflect": "reflect", "grid-mirror": "reflect", "mirror": "reflect101", "nearest": "replicate",
    "wrap": "wrap", "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
_FLOATS = (np.float32, np.float64)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0, *, axes: Any = None
) -> np.ndarray:
    """Compute the mean of the window around every element, as ``scipy.ndimage.uniform_filter``.

    Parameters
    ----------
    input, size, output, mode, cval, origin, axes
        As for ``scipy.ndimage.uniform_filter``.

    Returns
    -------
    filtered : ndarray
        The means, in `output` if that is an array.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import scipy
    >>> scipy.uniform_filter(np.array([[0, 9, 0, 0, 7]], np.uint8), 3)
    array([[3, 3, 3, 2, 4]], dtype=uint8)
    """
    array = np.asarray(input)
    target = _output(output, array)
    if array.dtype.kind == "c":
        for part in ("real", "imag"):
            uniform_filter(getattr(array, part), size, getattr(target, part), mode, getattr(np.complex128(cval), part), origin, axes=axes)
        return target
    which = _axes(axes, array.ndim)
    each = [(axis, operator.index(int(n)), operator.index(o), _border(m)) for axis, n, o, m in zip(which, *(_sequence(s, len(which)) for s in (size, origin, mode)))]
    for _, n, at, _ in each:
        if n > 1 and not 0 <= n // 2 + at < n:
            raise ValueError("invalid origin")
    each = [one for one in each if one[1] > 1]
    if not each:
        target[...] = array
        return target
    same = len({border for _, _, _, border in each}) == 1
    if array.ndim == 2 and target.dtype in _FLOATS and same and np.isfinite(cval):
        sizes, shifts = [1, 1], [0, 0]
        for axis, n, at, border in each:
            sizes[1 - axis], shifts[1 - axis] = n, -at
        _mean(array, target, (sizes[0], sizes[1]), (shifts[0], shifts[1]), each[0][3], cval)
        return target
    for axis, n, at, border in each:
        _along(array, axis, n, at, border, cval, target)
        array = target
    return target


def uniform_filter1d(input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0) -> np.ndarray:
    """Compute the mean of a window along one axis, as ``scipy.ndimage.uniform_filter1d``.

    Parameters
    ----------
    input, size, axis, output, mode, cval, origin
        As for ``scipy.ndimage.uniform_filter1d``.

    Returns
    -------
    filtered : ndarray
        The means, in `output` if that is an array.

    Examples
    --------
    >>> from boxsum.compat import scipy
    >>> scipy.uniform_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3)
    array([4, 3, 4, 1, 4, 6, 6, 3])
    """
    if size < 1:
        raise RuntimeError("incorrect filter size")
    array = np.asarray(input)
    return uniform_filter(array, size, output, mode, cval, origin, axes=(_axes(axis, array.ndim)[0],))


def _output(output: Any, array: np.ndarray) -> np.ndarray:
    if output is None:
        return np.empty(array.shape, array.dtype.newbyteorder("="))
    if isinstance(output, np.ndarray):
        if output.shape != array.shape:
            raise RuntimeError("output shape not correct")
        if array.dtype.kind == "c" and output.dtype.kind != "c":
            raise RuntimeError("output must have complex dtype")
        return output
    dtype = np.dtype(output)
    if array.dtype.kind == "c" and dtype.kind != "c" and isinstance(output, str):
        raise RuntimeError("output must have complex dtype")
    return np.empty(array.shape, np.promote_types(dtype, np.complex64) if array.dtype.kind == "c" else dtype)


def _axes(axes: Any, ndim: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(ndim))
    wanted = (axes,) if np.isscalar(axes) else tuple(axes)
    found = []
    for axis in map(operator.index, wanted):
        if not -ndim <= axis < ndim:
            raise ValueError(f"specified axis: {axis} is out of range")
        found.append(axis % ndim)
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return tuple(found)


def _sequence(value: Any, n: int) -> list:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return [value] * n
    values = list(value)
    if len(values) != n:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return values


def _border(mode: Any) -> str:
    if mode not in _BORDERS:
        raise RuntimeError("boundary mode not supported")
    return _BORDERS[mode]


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
    if border == "constant" and native.kind == "u" and not (0 <= cval <= np.iinfo(native).max and cval == int(cval)):
        return source.astype(np.float64)
    return source


def _along(source: np.ndarray, axis: int, size: int, origin: int, border: str, cval: float, target: np.ndarray) -> None:
    """Filter along one axis, across the rows of a plane or down its columns."""
    if source.size == 0:
        return
    if source.ndim == 2 and axis == 1:
        plane, window, shift = source, (size, 1), (-origin, 0)
    else:
        front = np.moveaxis(source, axis, 0)
        plane, window, shift = front.reshape(front.shape[0], -1), (1, size), (0, -origin)
    plane = _readable(plane, border, cval)
    if target.dtype in _FLOATS:
        result = np.empty(plane.shape, target.dtype.newbyteorder("="))
        run(b"mean", plane, result, window, border, cval, None, shift=shift)
    elif plane.dtype.kind == "u" and size * np.iinfo(plane.dtype).max < 1 << 32:
        result = np.empty(plane.shape, np.uint32)
        run(b"sum", plane, result, window, border, cval, None, shift=shift)
        np.floor_divide(result, np.uint32(size), out=result)
    else:
        result = np.empty(plane.shape)
        run(b"mean", plane, result, window, border, cval, None, shift=shift)
        np.trunc(result, out=result)
    if plane.shape == target.shape:
        np.copyto(target, result, casting="unsafe")
    else:
        np.copyto(np.moveaxis(target, axis, 0), result.reshape(np.moveaxis(target, axis, 0).shape), casting="unsafe")
