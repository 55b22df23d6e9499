"""Tables of images and volumes."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Literal, overload

import numpy as np
from numpy import ndarray

from . import _native, _types
from ._memory import _LARGE, new_table
from ._native import LayoutError, call

UPRIGHT, TILTED, VOLUME = range(3)

_sums = _types.sums
_squares = _types.squares
_empty = np.empty


@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[False] = ..., tilted: Literal[False] = ...,
    out: Any = ..., workers: int | None = ..., device: str | None = ...,
) -> ndarray: ...  # fmt: skip
@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[True], tilted: Literal[False] = ...,
    out: Any = ..., workers: int | None = ..., device: str | None = ...,
) -> tuple[ndarray, ndarray]: ...  # fmt: skip
@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[False] = ..., tilted: Literal[True],
    out: Any = ..., workers: int | None = ..., device: str | None = ...,
) -> tuple[ndarray, ndarray]: ...  # fmt: skip
@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[True], tilted: Literal[True],
    out: Any = ..., workers: int | None = ..., device: str | None = ...,
) -> tuple[ndarray, ndarray, ndarray]: ...  # fmt: skip
@overload
def integral(
    image: Any, *, dtype: Any = ..., squares: bool = ..., tilted: bool = ...,
    out: Any = ..., workers: int | None = ..., device: str | None = ...,
) -> Any: ...  # fmt: skip


def integral(
    image: Any,
    *,
    dtype: Any = None,
    squares: bool = False,
    tilted: bool = False,
    out: Any = None,
    workers: int | None = None,
    device: str | None = None,
) -> Any:
    """Make the summed-area table (integral image) of an image.

    Entry ``[y, x]`` of the table is the sum of ``image[:y, :x]``, so that it has a
    row and a column more than the image, the first of them zero. Any box of
    pixels then sums to four entries: see :func:`box_sum`.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, C)
        Pixels of uint8, uint16, uint32, int16, int32, float32 or float64 go in as
        they are, whatever lies between their rows. Other integers and floats up to
        64 bits, arrays whose rows are not in order or whose elements do not lie
        side by side, and bytes in foreign order are copied first. Channels are
        summed each for itself. Arrays of a GPU stay there: CuPy, PyTorch, and all
        that have ``__cuda_array_interface__`` or ``__dlpack__``.
    dtype : data type, optional
        Of the sums. The usual one is uint32 for uint8, uint64 for other unsigned
        and int64 for signed integers, float64 for floats. Integer sums wrap: a
        box whose own sum fits the type is exact nonetheless.
    squares : bool
        Make the table of the squared pixels as well, uint64 for integers of up to
        16 bits and float64 for others: see :func:`box_std`. uint64 in ``out`` makes
        it for 32-bit pixels too, modulo 2**64.
    tilted : bool
        Make the table at 45° as well, that of ``cv2.integral3``.
    out : array or tuple of arrays, optional
        Where to write the table, or the tables in the order in which they are
        returned. It may have any row stride.
    workers : int, optional
        How many threads may work at once. The default is what helps.
    device : str, optional
        Where to work on arrays of the host: ``"cpu"``, ``"gpu"``, ``"cuda"``,
        ``"cuda:1"``, ``"opencl"``. The default is the processor.

    Returns
    -------
    table : array, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        A tuple of two or three where squares or tilted are asked for: sums,
        squares, tilted. Large tables have rows with a gap behind them, which are
        written faster; ``out=numpy.empty(...)`` makes one without.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.arange(6, dtype=np.uint8).reshape(2, 3)
    >>> boxsum.integral(image)
    array([[ 0,  0,  0,  0],
           [ 0,  0,  1,  3],
           [ 0,  3,  8, 15]], dtype=uint32)
    >>> sums, squares = boxsum.integral(image, squares=True)
    >>> squares[-1, -1]
    np.uint64(55)
    """
    if type(image) is ndarray and not tilted and device is None:
        # The usual calls, with as little in the way as possible.
        shape = image.shape
        pixel = image.dtype
        table = None
        if out is None:
            sums = _sums.get((pixel, dtype))
            if sums is not None and len(shape) == 2:
                height, width = shape
                size: tuple[int, ...] = (height + 1, width + 1)
                small = (height + 1) * (width + 1) * sums.itemsize < _LARGE
                table = _empty(size, sums) if small else new_table(size, sums)
            elif sums is not None and len(shape) == 3:
                size = (shape[0] + 1, shape[1] + 1, shape[2])
                table = new_table(size, sums)
        elif dtype is None and not squares and type(out) is ndarray and (pixel, out.dtype) in _sums:
            table = out
        if table is not None:
            lib = _native.loaded or _native.load()
            threads = 0 if workers is None else thread_count(workers)
            if squares:
                table2 = new_table(size, _squares[pixel])
                text = lib.tables(image.__array_struct__, table.__array_struct__, table2.__array_struct__, threads)
                if not text:
                    return table, table2
            else:
                text = lib.table(image.__array_struct__, table.__array_struct__, threads)
                if not text:
                    return table
            error = lib.failure(text)
            if type(error) is not LayoutError:
                raise error
    if not isinstance(image, ndarray):
        kind = _foreign.find(image)
        if kind is not None:
            return kind.integral(image, dtype, squares, tilted, out, workers, device)
    return host(np.asarray(image), UPRIGHT, dtype, squares, tilted, out, workers, device)


@overload
def volume(volume: ndarray, *, dtype: Any = ..., squares: Literal[False] = ..., out: Any = ..., workers: int | None = ...) -> ndarray: ...
@overload
def volume(volume: ndarray, *, dtype: Any = ..., squares: Literal[True], out: Any = ..., workers: int | None = ...) -> tuple[ndarray, ndarray]: ...
@overload
def volume(volume: Any, *, dtype: Any = ..., squares: bool = ..., out: Any = ..., workers: int | None = ...) -> Any: ...


def volume(
    volume: Any,
    *,
    dtype: Any = None,
    squares: bool = False,
    out: Any = None,
    workers: int | None = None,
) -> Any:
    """Make the summed-area table of a volume, an integral volume.

    Entry ``[z, y, x]`` is the sum of ``volume[:z, :y, :x]``. Boxes have six numbers,
    ``x0, y0, z0, x1, y1, z1``, and eight entries give their sum: see
    :func:`box_sum`.

    Parameters
    ----------
    volume : array_like, shape (D, H, W) or (D, H, W, C)
        Voxels, of the types that :func:`integral` takes, on a GPU too.
    dtype, squares, out, workers
        As for :func:`integral`.

    Returns
    -------
    table : ndarray, shape (D + 1, H + 1, W + 1) or (D + 1, H + 1, W + 1, C)
        With squares a tuple of two.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> voxels = np.ones((4, 5, 6), np.uint8)
    >>> table = boxsum.volume(voxels)
    >>> table.shape
    (5, 6, 7)
    >>> boxsum.box_sum(table, [[0, 0, 0, 2, 2, 2], [1, 1, 1, 6, 5, 4]])
    array([ 8, 60], dtype=uint32)
    """
    if not isinstance(volume, ndarray):
        kind = _foreign.find(volume)
        if kind is not None:
            return kind.volume(volume, dtype, squares, out, workers)
    return host(np.asarray(volume), VOLUME, dtype, squares, False, out, workers, None)


def host(image: ndarray, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: int | None, device: str | None) -> Any:
    """The tables of an array in memory of the host."""
    axes = axes_of(image.shape, kind)
    outs = arrays_out(out, 1 + bool(squares) + bool(tilted), ndarray)
    if outs[0] is not None:
        dtype = same_type(dtype, outs[0].dtype)
    number = device_number(device)
    threads = thread_count(workers)
    if _types.splits(image, dtype):
        if squares or tilted:
            raise TypeError(f"pixels of {image.dtype} have sums, but no squares and no tilted table: convert them first")
        return _halves(image, kind, dtype, outs[0], workers, device)
    sums = _sums.get((image.dtype, dtype))
    if sums is None:
        image, sums = _types.convert(image, dtype)
    shape = tuple(n + 1 for n in image.shape[:axes]) + image.shape[axes:]
    types = [sums] + ([_types.squares[image.dtype]] if squares else []) + ([sums] if tilted else [])
    tables = [new_table(shape, t, axes) if o is None else o for o, t in zip(outs, types)]
    if tilted and out is not None:
        apart(tables)
    for attempt in range(2):
        try:
            call("integral", image, tables[0], tables[1] if squares else None, kind, threads, number)
            if tilted:
                call("integral", image, tables[-1], None, TILTED, threads, number)
            break
        except LayoutError:
            if attempt:
                raise
            image = np.array(image, order="C", subok=False)
    return tables[0] if len(tables) == 1 else tuple(tables)


def _halves(image: ndarray, kind: int, dtype: Any, out: Any, workers: int | None, device: str | None) -> ndarray:
    """The sums of 64-bit integers: those of their halves, as channels."""
    axes = axes_of(image.shape, kind)
    native = image.dtype.newbyteorder("=")
    shape = tuple(n + 1 for n in image.shape[:axes]) + image.shape[axes:]
    if 0 in image.shape[axes:]:
        raise ValueError(f"an array of shape {image.shape}: an image without channels")
    if image.size:
        halves = np.ascontiguousarray(image, native).view(np.uint32).reshape(image.shape[:axes] + (-1,))
        tables = host(halves, kind, np.uint64, False, False, None, workers, device)
        low, high = (0, 1) if sys.byteorder == "little" else (1, 0)
        table = (tables[..., low::2] + (tables[..., high::2] << np.uint64(32))).reshape(shape)
    else:
        table = np.zeros(shape, np.uint64)
    table = table.view(native if dtype is None else np.dtype(dtype).newbyteorder("="))
    if out is None:
        return table
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, and the table {shape}")
    out[...] = table
    return out


def axes_of(shape: tuple[int, ...], kind: int) -> int:
    """How many axes of an image or volume are not channels."""
    axes = 3 if kind == VOLUME else 2
    if len(shape) not in (axes, axes + 1):
        what = "a volume has shape (D, H, W) or (D, H, W, C)" if kind == VOLUME else "an image has shape (H, W) or (H, W, C)"
        raise ValueError(f"an array of shape {tuple(shape)}: {what}")
    return axes


def arrays_out(out: Any, count: int, kind: Any) -> list:
    """The arrays of an ``out`` argument, with None for those to be made."""
    if out is None:
        return [None] * count
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(outs) != count:
        raise ValueError(f"out has {len(outs)} arrays for {count} tables")
    for o in outs:
        if o is not None and not isinstance(o, kind):
            raise TypeError(f"out must be an array of the same kind as the image, not {type(o).__name__}")
    return outs


def apart(tables: list) -> None:
    """Raises a ValueError where one table would be written over another."""
    for i, one in enumerate(tables):
        if any(_types.overlap(one, other) for other in tables[:i]):
            raise ValueError("out has two tables in the same memory")


def same_type(dtype: Any, out: np.dtype) -> np.dtype:
    """The type of out, which must be the one that was asked for."""
    if dtype is not None and np.dtype(dtype) != out:
        raise TypeError(f"out is of {out}, and dtype asks for {np.dtype(dtype)}")
    return out


def thread_count(workers: int | None) -> int:
    return 0 if workers is None else _types.whole(workers, "workers", 1)


def device_number(device: Any) -> int:
    """The library's number for a device, and -1 for the processor."""
    if device is None or device == "cpu":
        return -1
    if not isinstance(device, str):
        raise TypeError(f"a device is named by a string such as 'cuda' or 'cuda:0', not by {device!r}")
    number = ctypes.c_int64()
    call("device", device.encode(), ctypes.addressof(number))
    return number.value


from . import _foreign  # noqa: E402  it needs what is above
