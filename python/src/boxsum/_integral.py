"""Summed-area tables of images and volumes."""

from __future__ import annotations

import ctypes
import os
import sys
from importlib import import_module
from typing import Any, Literal, overload

import numpy as np
from numpy import ndarray

from . import _core, _filters, _foreign, _host, _known, _shapes, _store, _types, _valid
from ._arguments import UPRIGHT, VOLUME, as_pixels, thread_count, warn_of_planes
from ._memory import LARGE_SQUARES, Layout, layout_of, new_tables
from ._native import LayoutError, call
from ._typing import Axes

_sums = _types.sums
_again = _foreign.again
_remembered = _known.memory  # not empty if anything is remembered about tables
_unusual = _known.unusual_pairs()
_coarse = {np.dtype(t) for t in ("i4", "u4", "f4", "f8")}  # pixels whose squares may need more digits
_ready: dict[tuple[Any, ...], tuple[Layout, Layout]] = {}  # by the image's shape and type and the requested dtype


def _layouts(image: ndarray, dtype: Any) -> tuple[Layout, Layout] | None:
    """Return the layouts of an image's table and squares, or None if it must be converted first."""
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


_quick = _core.integral  # repeats calls of a known kind


def _know_arrays() -> bool:
    """Report whether the extension module can read this NumPy's arrays in place."""
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
    """Compute the summed-area table (integral image) of an image.

    Entry ``[y, x]`` of the table is the sum of ``image[:y, :x]``. The table has one more
    row and column than the image; the first of each is zero. :func:`box_sum` computes the
    sum of any box of pixels from four entries.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, C)
        Input image. uint8, uint16, uint32, int16, int32, float32 and float64 pixels are
        read in place, with any gap between rows. Other integers and floats of up to
        64 bits, arrays in another byte order, and arrays whose rows are out of order or
        whose pixels are not adjacent are copied first. Each channel is summed separately.
        GPU arrays are processed on their device: CuPy, PyTorch, and any array with
        ``__cuda_array_interface__`` or ``__dlpack__``. An array that looks like planes of
        color, (3, H, W), is taken for an image with channels too, with a warning.
    dtype : dtype, optional
        Type of the sums. The default is uint32 for uint8, uint64 for other unsigned
        integers, int64 for signed integers and float64 for floats. 8-bit images of more
        than 16,843,009 pixels, whose sum may exceed 32 bits, default to uint64. Integer
        sums wrap around if `dtype` is too small; a box whose own sum fits is still exact.
    squares : bool, default False
        Also compute the table of squared pixels, for :func:`box_var` and :func:`box_std`.
        It is uint64 for integers of up to 16 bits and float64 otherwise. To choose the
        other type, pass an array for it in `out`: uint64 for 32-bit pixels (modulo 2**64)
        or float64 for 8- and 16-bit pixels.
    tilted : bool, default False
        Also compute the 45° table, which is the third table of ``cv2.integral3``.
    mask : array_like, shape (H, W) or (H, W, C), or True, optional
        Pixels where the mask is zero are left out, and a table of counts is returned as
        well. NumPy masked arrays need no mask: their masked elements are left out, and
        their tables carry the counts. ``True`` returns these counts too.
    nan : {"keep", "skip"}, default "keep"
        ``"skip"`` leaves out NaN pixels, in each channel separately, and returns a table
        of counts. With ``"keep"``, a NaN makes every entry below and to the right of it
        NaN.
    out : array, tuple of arrays, str or path, optional
        Destination for the table, or for the tables in the order of the return value.
        Any row stride is allowed. A path or URL writes the table to a Zarr store, chunk
        by chunk, for images of any size; `image` may then be the path of a Zarr array, or
        an array of zarr-python, dask, xarray or h5py.
    workers : int, optional
        Maximum number of threads. The default is as many as speed up the call.
    device : str, optional
        Where to process arrays in host memory: ``"cpu"`` (the default), ``"gpu"``,
        ``"cuda"``, ``"cuda:1"``, ``"opencl"``, or ``"all"`` for every GPU at once.
    axes : tuple of int, optional
        The axes of rows and columns, for a batch of images: ``(-2, -1)`` computes the table
        of every plane of an ``(N, C, H, W)`` array in one call. The result has the axes of
        the input and is one longer along these two. Three axes select volumes.

    Returns
    -------
    table : array, shape (H + 1, W + 1) or (H + 1, W + 1, C)
        The table. With `squares`, `tilted`, `mask` or ``nan="skip"``, a tuple of tables in
        the order sums, squares, tilted, counts. Counts are uint32, and tables of valid
        pixels are of type :class:`ValidTable`. With a path or URL as `out`, a
        :class:`StoredTable`. Large tables have a gap after each row, which makes them
        faster to write; pass ``out=numpy.empty(...)`` for a table without gaps.

    Raises
    ------
    TypeError
        If the pixel type is not supported or has no sums of type `dtype`.
    ValueError
        If `image` does not have the shape (H, W) or (H, W, C), arguments contradict each
        other, or `out` has the wrong shape or overlaps the image.
    MemoryError
        If there is not enough memory for the table.

    See Also
    --------
    box_sum : Sum the pixels of boxes.
    volume : The same for three-dimensional arrays.

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
            raise ValueError("dtype, tilted, mask, nan, device and axes are not supported for a table in a store")
        return _store.integrate(image, out, squares=squares, volume=False, workers=workers)
    if axes is not None:
        return _of_axes(image, axes, dtype, squares, tilted, mask, nan, out, workers, device)
    if mask is not None or nan != "keep":
        warn_of_planes(image, axes=False)
        return _valid.tables_of(image, mask, nan, dtype, squares, tilted, out, workers, device)
    if out is not None and _remembered:
        for table in out if isinstance(out, (tuple, list)) else (out,):
            _known.forget(table)
    alone = not (squares and getattr(image, "dtype", None) in _coarse)  # there is nothing to make but the tables
    if workers is None and device is None and not tilted and alone:
        made = _quick(image, dtype, squares, out)
        if made is not None:
            return made
        if dtype is None and not squares and _again(image, out):
            return out
    planes = warn_of_planes(image)
    if type(image) is ndarray and not tilted and device is None and alone:
        # The common calls, with as little overhead as possible. The extension module answers the next one of this kind.
        table = table2 = None
        layouts: tuple[Layout, Layout] | None = None
        if out is None:
            try:
                layouts = _ready.get((image.shape, image.dtype, dtype)) or _layouts(image, dtype)
            except TypeError:  # dtype is not a dtype
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
                pass  # computed from a copy below
            else:
                if out is not None:
                    layouts = _layouts(image, table.dtype)
                if layouts is not None and not planes:
                    _core.remember(image, dtype if out is None else table.dtype, *layouts, layouts[1].bytes < LARGE_SQUARES and image.dtype not in _coarse)
                return (table, table2) if squares else table
    if isinstance(image, np.ma.MaskedArray) and np.ma.is_masked(image):
        return _valid.of_masked(image, dtype, squares, tilted, out, workers, device)
    if not isinstance(image, ndarray):
        kind = _foreign.find(image)
        if kind is not None:
            return kind.integral(image, dtype, squares, tilted, out, workers, device)
    return _host.tables(as_pixels(image, stores=True), UPRIGHT, dtype, squares, tilted, out, workers, device)


def _of_axes(image: Any, axes: Any, dtype: Any, squares: bool, tilted: bool, mask: Any, nan: str, out: Any, workers: Any, device: Any) -> Any:
    """Compute the tables of a batch."""
    if mask is not None or nan != "keep":
        raise ValueError(f"axes must be None with mask or nan='skip', got {axes!r} (make the tables one by one)")
    kind = VOLUME if np.shape(axes) == (3,) else UPRIGHT
    if kind == VOLUME and tilted:
        raise ValueError("tilted must be False for volumes, which have no tilted tables")
    for table in out if isinstance(out, (tuple, list)) else (out,):
        if table is not None:
            _known.forget(table)
    library = None if isinstance(image, ndarray) else _foreign.find(image)
    if library is not None:
        return library.batches(image, kind, dtype, squares, tilted, out, workers, device, axes)
    return _host.batches(as_pixels(image), kind, dtype, squares, tilted, out, workers, device, axes)


def _shorten() -> None:
    """Let the extension module try calls of integral and of some filters first, which takes Python 3.12 or later."""
    if not _know_arrays() or sys.implementation.name != "cpython":
        return
    get, put = (getattr(ctypes.pythonapi, name, None) for name in ("PyVectorcall_Function", "PyFunction_SetVectorcall"))
    if get and put:
        found, replaced = (ctypes.cast(function, ctypes.c_void_p).value for function in (get, put))
        filters: tuple[Any, ...] = (_filters.blur, _filters.box_filter, _filters.local_mean, _filters.local_std, _filters.local_var)
        _core.shorten(integral, found, replaced)
        for which, function in enumerate(filters):
            _core.shorten_filter(function, which, found, replaced, np.dtype(np.float32), np.dtype(np.float64))


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
    """Compute the summed-area table (integral volume) of a volume.

    Entry ``[z, y, x]`` of the table is the sum of ``volume[:z, :y, :x]``. Boxes have six
    numbers, ``x0, y0, z0, x1, y1, z1``; :func:`box_sum` computes their sums from eight
    entries.

    Parameters
    ----------
    volume : array_like, shape (D, H, W) or (D, H, W, C)
        Input volume, of the types that :func:`integral` accepts; also on a GPU.
    dtype, squares, out, workers
        As for :func:`integral`.
    axes : tuple of int, optional
        The axes of slices, rows and columns, for a batch of volumes.

    Returns
    -------
    table : array, shape (D + 1, H + 1, W + 1) or (D + 1, H + 1, W + 1, C)
        The table; with `squares`, a tuple of the table and that of the squared voxels.
        With a path or URL as `out`, a :class:`StoredTable`.

    Raises
    ------
    TypeError
        If the voxel type is not supported or has no sums of type `dtype`.
    ValueError
        If `volume` does not have three axes, or four with channels, or `out` has the wrong
        shape or overlaps the volume.

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
            raise ValueError("dtype and axes are not supported for a table in a store")
        return _store.integrate(volume, out, squares=squares, volume=True, workers=workers)
    if axes is not None:
        if np.shape(axes) != (3,):
            raise ValueError(f"axes must be three for a volume, got {axes!r}")
        return _of_axes(volume, axes, dtype, squares, False, None, "keep", out, workers, None)
    kind = None if isinstance(volume, ndarray) else _foreign.find(volume)
    if kind is not None:
        tables = kind.volume(volume, dtype, squares, out, workers)
    else:
        tables = _host.tables(as_pixels(volume, stores=True), VOLUME, dtype, squares, False, out, workers, None)
    if out is None:
        _shapes.remember_volume(tables)
    return tables
