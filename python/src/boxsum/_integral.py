"""Tables of images and volumes."""

from __future__ import annotations

import ctypes
import os
import sys
from importlib import import_module
from typing import Any, Literal, overload

import numpy as np
from numpy import ndarray

from . import _core, _foreign, _host, _known, _shapes, _store, _types, _valid
from ._arguments import UPRIGHT, VOLUME, as_pixels, thread_count
from ._memory import LARGE_SQUARES, Layout, layout_of, new_tables
from ._native import LayoutError, call
from ._typing import Axes

_sums = _types.sums
_again = _foreign.again
_remembered = _known.memory  # is not empty where something is known of tables
_unusual = _known.unusual_pairs()
_coarse = {np.dtype(t) for t in ("i4", "u4", "f4", "f8")}  # pixels whose squares may take more digits
_ready: dict[tuple, tuple[Layout, Layout]] = {}  # for the shape and type of an image and the dtype asked for


def _layouts(image: ndarray, dtype: Any) -> tuple[Layout, Layout] | None:
    """The layouts of an image's table and its squares, None for what must be converted first."""
    sums, shape = _sums.get((image.dtype, None if dtype is None else np.dtype(dtype).newbyteorder("="))), image.shape
    if sums is None or len(shape) not in (2, 3) or (image.dtype, sums) in _unusual:
        return None
    if len(_ready) > 1000:
        _ready.clear()
    if dtype is None:
        sums = _types.roomy(sums, shape[:2])
    size = (shape[0] + 1, shape[1] + 1) + shape[2:]
    both = layout_of(size, sums), layout_of(size, _types.squares[image.dtype], second=True)
    _ready[shape, image.dtype, dtype] = both
    return both


_quick = _core.integral  # makes what was made before


def _know_arrays() -> bool:
    """Reports whether the extension module can read arrays of this NumPy where they are."""
    for package in ("numpy._core", "numpy.core"):
        try:
            api = import_module(f"{package}._multiarray_umath")._ARRAY_API
        except (ImportError, AttributeError):
            continue
        whole = np.zeros((3, 5, 2), np.uint16)
        frozen = np.zeros((4, 6), np.float64)
        frozen.flags.writeable = False
        swapped = np.zeros((2, 3), np.dtype(np.uint32).newbyteorder())
        unaligned = np.zeros(41, np.uint8)[1:].view(np.uint32).reshape(2, 5)
        return _core.know(api, np.asarray, np.dtype(np.uint8), (whole, whole[1:, ::2, 0], whole.T, frozen, swapped, unaligned, np.zeros((0, 7), np.uint8)))
    return False


@overload
def integral(image: Any, *, squares: bool = ..., out: str | os.PathLike[str], workers: int | None = ...) -> _store.StoredTable: ...
@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[False] = ..., tilted: Literal[False] = ...,
    out: Any = ..., workers: int | None = ..., device: str | None = ..., axes: Axes = ...,
) -> ndarray: ...  # fmt: skip
@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[True], tilted: Literal[False] = ...,
    out: Any = ..., workers: int | None = ..., device: str | None = ..., axes: Axes = ...,
) -> tuple[ndarray, ndarray]: ...  # fmt: skip
@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[False] = ..., tilted: Literal[True],
    out: Any = ..., workers: int | None = ..., device: str | None = ..., axes: Axes = ...,
) -> tuple[ndarray, ndarray]: ...  # fmt: skip
@overload
def integral(
    image: ndarray, *, dtype: Any = ..., squares: Literal[True], tilted: Literal[True],
    out: Any = ..., workers: int | None = ..., device: str | None = ..., axes: Axes = ...,
) -> tuple[ndarray, ndarray, ndarray]: ...  # fmt: skip
@overload
def integral(
    image: Any, *, dtype: Any = ..., squares: bool = ..., tilted: Literal[False] = ..., mask: ndarray | Literal[True], nan: str = ...,
    out: Any = ..., workers: int | None = ..., device: str | None = ..., axes: Axes = ...,
) -> tuple[ndarray, ...]: ...  # fmt: skip
@overload
def integral(
    image: Any, *, dtype: Any = ..., squares: bool = ..., tilted: Literal[False] = ..., mask: None = ..., nan: Literal["skip"],
    out: Any = ..., workers: int | None = ..., device: str | None = ..., axes: Axes = ...,
) -> tuple[ndarray, ...]: ...  # fmt: skip
@overload
def integral(
    image: Any, *, dtype: Any = ..., squares: bool = ..., tilted: bool = ..., mask: Any = ..., nan: str = ...,
    out: Any = ..., workers: int | None = ..., device: str | None = ..., axes: Axes = ...,
) -> Any: ...  # fmt: skip


def integral(
    image: Any,
    *,
    dtype: Any = None,
    squares: bool = False,
    tilted: bool = False,
    mask: Any = None,
    nan: str = "keep",
    out: Any = None,
    workers: int | None = None,
    device: str | None = None,
    axes: Axes = None,
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
        and int64 for signed integers, float64 for floats. Images of more than
        16,843,009 bytes, whose sum may not fit 32 bits, have uint64. Integer sums
        of a type that was asked for wrap: a box whose own sum fits the type is
        exact nonetheless.
    squares : bool
        Make the table of the squared pixels as well, uint64 for integers of up to
        16 bits and float64 for others: see :func:`box_std`. An array for them in
        ``out`` may ask for the other, uint64 for 32-bit pixels, modulo 2**64, or
        float64 for 8- and 16-bit ones.
    tilted : bool
        Make the table at 45° as well, that of ``cv2.integral3``.
    mask : array_like, shape (H, W) or (H, W, C), optional
        Which pixels are valid: those where it is not zero. Others are left out, and
        a table of counts tells how many there are. Masked arrays of NumPy need none: what
        they mask is left out, and their tables know their counts. ``True`` returns these
        too.
    nan : str
        ``"skip"`` leaves out NaN, in each channel by itself, as a mask does. With
        ``"keep"`` it is a value, and spoils the boxes below it and to the right.
    out : array or tuple of arrays, optional
        Where to write the table, or the tables in the order in which they are
        returned. It may have any row stride. A path or URL of a Zarr store makes
        the table there, chunk by chunk, of images of any size: a path of a
        Zarr array, an array of zarr-python, dask, xarray or h5py. It returns a
        :class:`StoredTable`; see :func:`open`.
    workers : int, optional
        How many threads may work at once. The default is what helps.
    device : str, optional
        Where to work on arrays of the host: ``"cpu"``, ``"gpu"``, ``"cuda"``,
        ``"cuda:1"``, ``"opencl"``, or ``"all"`` for every GPU at once. The default is
        the processor.
    axes : (int, int), optional
        Which axes are rows and columns, where an array has others: ``(-2, -1)`` makes a
        table of every plane of ``(N, C, H, W)``, all at once. The table has the axes of
        the array, one longer along these. Three axes are those of a volume.

    Returns
    -------
    table : array, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        A tuple of two or three where squares or tilted are asked for: sums,
        squares, tilted. With mask or nan the last one is that of the counts, uint32:
        see :func:`box_mean`. Those of valid pixels are of type :class:`ValidTable`. Large tables have rows with a gap behind them, which are
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
    >>> sums, counts = boxsum.integral(np.array([[1, np.nan], [3, 5]]), nan="skip")
    >>> sums[-1, -1], counts[-1, -1]
    (np.float64(9.0), np.uint32(3))
    """
    if out is not None and _store.is_location(out):
        if dtype is not None or tilted or mask is not None or nan != "keep" or device is not None or axes is not None:
            raise ValueError("a table in a store is upright, of all pixels, and made by the processor: leave out dtype, tilted, mask, nan, device and axes")
        return _store.integrate(image, out, squares=squares, volume=False, workers=workers)
    if axes is not None:
        return _of_axes(image, axes, dtype, squares, tilted, mask, nan, out, workers, device)
    if mask is not None or nan != "keep":
        return _valid.tables_of(image, mask, nan, dtype, squares, tilted, out, workers, device)
    if out is not None and _remembered:
        for table in out if isinstance(out, (tuple, list)) else (out,):
            _known.forget(table)
    alone = not (squares and getattr(image, "dtype", None) in _coarse)  # the tables are all that there is to make
    if workers is None and device is None and not tilted and alone:
        made = _quick(image, dtype, squares, out)
        if made is not None:
            return made
        if dtype is None and not squares and _again(image, out):
            return out
    if type(image) is ndarray and not tilted and device is None and alone:
        # The usual calls, with as little in the way as possible. The next one of this kind does not come here.
        table = table2 = None
        if out is None:
            try:
                layouts = _ready.get((image.shape, image.dtype, dtype)) or _layouts(image, dtype)
            except TypeError:  # a dtype that is none
                layouts = None
            if layouts is not None:
                if not squares:
                    table = layouts[0].new()
                elif layouts[1].bytes < LARGE_SQUARES:
                    table, table2 = layouts[0].new(), layouts[1].new()
                else:
                    table, table2 = new_tables(*layouts)
        elif dtype is None and not squares and type(out) is ndarray and (image.dtype, out.dtype) in _sums and (image.dtype, out.dtype) not in _unusual:
            table = out
            if out.ndim == 3:
                _shapes.forget_volume(out)
        if table is not None:
            try:
                if workers is None:
                    call("integral", image, table, table2)
                else:
                    call("integral", image, table, table2, UPRIGHT, thread_count(workers), -1)
            except LayoutError:
                pass  # made from a copy below
            else:
                if out is not None:
                    layouts = _layouts(image, out.dtype)
                if layouts is not None:
                    _core.remember(image, dtype if out is None else out.dtype, *layouts, layouts[1].bytes < LARGE_SQUARES)
                return (table, table2) if squares else table
    if isinstance(image, np.ma.MaskedArray) and np.ma.is_masked(image):
        return _valid.of_masked(image, dtype, squares, tilted, out, workers, device)
    if not isinstance(image, ndarray):
        kind = _foreign.find(image)
        if kind is not None:
            return kind.integral(image, dtype, squares, tilted, out, workers, device)
    return _host.tables(as_pixels(image), UPRIGHT, dtype, squares, tilted, out, workers, device)


def _of_axes(image: Any, axes: Any, dtype: Any, squares: bool, tilted: bool, mask: Any, nan: str, out: Any, workers: Any, device: Any) -> Any:
    """The tables of a batch."""
    if mask is not None or nan != "keep":
        raise ValueError("axes go with no mask and no nan: make the tables of such images one by one")
    kind = VOLUME if np.shape(axes) == (3,) else UPRIGHT
    if kind == VOLUME and tilted:
        raise ValueError("a volume has no tilted table")
    for table in out if isinstance(out, (tuple, list)) else (out,):
        if table is not None:
            _known.forget(table)
    library = None if isinstance(image, ndarray) else _foreign.find(image)
    if library is not None:
        return library.batches(image, kind, dtype, squares, tilted, out, workers, device, axes)
    return _host.batches(as_pixels(image), kind, dtype, squares, tilted, out, workers, device, axes)


def _shorten() -> None:
    """Has calls of integral tried by the extension module first, where Python allows for it: since 3.12."""
    if not _know_arrays() or sys.implementation.name != "cpython":
        return
    get, put = (getattr(ctypes.pythonapi, name, None) for name in ("PyVectorcall_Function", "PyFunction_SetVectorcall"))
    if get and put:
        _core.shorten(integral, *(ctypes.cast(function, ctypes.c_void_p).value for function in (get, put)))


_shorten()


@overload
def volume(volume: Any, *, squares: bool = ..., out: str | os.PathLike[str], workers: int | None = ...) -> _store.StoredTable: ...
@overload
def volume(volume: ndarray, *, dtype: Any = ..., squares: Literal[False] = ..., out: Any = ..., workers: int | None = ..., axes: Axes = ...) -> ndarray: ...
@overload
def volume(volume: ndarray, *, dtype: Any = ..., squares: Literal[True], out: Any = ..., workers: int | None = ..., axes: Axes = ...) -> tuple[ndarray, ndarray]: ...
@overload
def volume(volume: Any, *, dtype: Any = ..., squares: bool = ..., out: Any = ..., workers: int | None = ..., axes: Axes = ...) -> Any: ...


def volume(
    volume: Any,
    *,
    dtype: Any = None,
    squares: bool = False,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
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
    axes : (int, int, int), optional
        Which axes are slices, rows and columns, where an array has others.

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
    if out is not None and _store.is_location(out):
        if dtype is not None or axes is not None:
            raise ValueError("a table in a store has sums of 64 bits: leave out dtype and axes")
        return _store.integrate(volume, out, squares=squares, volume=True, workers=workers)
    if axes is not None:
        if np.shape(axes) != (3,):
            raise ValueError(f"axes is {axes!r}: those of a volume are three")
        return _of_axes(volume, axes, dtype, squares, False, None, "keep", out, workers, None)
    kind = None if isinstance(volume, ndarray) else _foreign.find(volume)
    if kind is not None:
        tables = kind.volume(volume, dtype, squares, out, workers)
    else:
        tables = _host.tables(as_pixels(volume), VOLUME, dtype, squares, False, out, workers, None)
    if out is None:
        _shapes.remember_volume(tables)
    return tables
