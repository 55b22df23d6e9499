"""Tables larger than memory, in Zarr stores."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from ._arguments import DEVIATION, MEAN, SUM, VARIANCE, as_boxes, plain, results, thread_count
from ._native import Handle, call
from ._types import whole
from ._remote import Bridge, Upload, is_remote, located, ready, redacted


class StoredTable:
    """A table in a Zarr store, opened by :func:`open` and queried without loading it.

    Attributes
    ----------
    shape : tuple of int
        The shape of the image, (H, W) or (H, W, C), or of the volume, (D, H, W).
    dtype : numpy.dtype
        The type of the sums.
    url : str
        The location of the store.

    Examples
    --------
    >>> import boxsum, numpy as np, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> table = boxsum.integral(image, squares=True, out=folder.name + "/table.zarr")
    >>> table
    <boxsum.StoredTable of an array of shape (3, 4), uint64>
    >>> table.box_mean([[0, 0, 4, 3], [1, 1, 3, 2]]), table.box_var([0, 0, 4, 3]) == image.var()
    (array([5.5, 5.5]), np.True_)
    """

    def __init__(self, handle: Handle, url: str, bridge: Bridge | None = None) -> None:
        self._handle = handle
        self._bridge = bridge  # kept alive with the table
        self.url = url
        self._about = about = json.loads(call("store_about", handle.value))
        self.dtype = np.dtype(about["sum"])
        self.shape: tuple[int, ...] = (about["height"], about["width"])
        if about["depth"]:
            self.shape = (about["depth"], *self.shape)
        elif about["channels"] > 1:
            self.shape += (about["channels"],)

    def __repr__(self) -> str:
        return f"<boxsum.StoredTable of an array of shape {self.shape}, {self.dtype}>"

    def box_sum(self, boxes: Any, *, out: np.ndarray | None = None) -> Any:
        """Sum the pixels of boxes.

        Parameters
        ----------
        boxes : array_like of int, shape (..., 4) or (..., 6)
            Boxes ``x0, y0, x1, y1``, or ``x0, y0, z0, x1, y1, z1`` for volumes. They are
            clipped to the image.
        out : ndarray, optional
            Destination, a C-contiguous array of the type and shape of the result. By default,
            a new array is allocated.

        Returns
        -------
        sums : ndarray, shape (...) or (..., C)
            The sums, one for each channel or bin of the table.

        Raises
        ------
        ValueError
            If a box does not have four whole numbers, or six for a volume, `out` has the wrong
            shape or type, or the store cannot be read.

        Examples
        --------
        >>> import boxsum, numpy as np, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
        >>> table = boxsum.integral(image, squares=True, out=folder.name + "/table.zarr")
        >>> table.box_sum([[0, 0, 4, 3], [1, 1, 3, 2]])
        array([66, 11], dtype=uint64)
        """
        return self._ask(boxes, SUM, self.dtype, out)

    def box_mean(self, boxes: Any, *, out: np.ndarray | None = None) -> Any:
        """Return the mean of the pixels of boxes.

        Parameters
        ----------
        boxes, out
            As for :meth:`box_sum`.

        Returns
        -------
        means : ndarray of float64, shape (...) or (..., C)
            The means; empty boxes have mean 0.

        Raises
        ------
        ValueError
            As for :meth:`box_sum`.

        Examples
        --------
        >>> import boxsum, numpy as np, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
        >>> table = boxsum.integral(image, squares=True, out=folder.name + "/table.zarr")
        >>> table.box_mean([[0, 0, 4, 3], [1, 1, 3, 2]])
        array([5.5, 5.5])
        """
        return self._ask(boxes, MEAN, np.float64, out)

    def box_var(self, boxes: Any, *, out: np.ndarray | None = None) -> Any:
        """Return the variance of the pixels of boxes, for a table with squares.

        Parameters
        ----------
        boxes, out
            As for :meth:`box_sum`.

        Returns
        -------
        variances : ndarray of float64, shape (...) or (..., C)
            The variances.

        Raises
        ------
        ValueError
            As for :meth:`box_sum`, and if the store has no squares.

        Examples
        --------
        >>> import boxsum, numpy as np, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
        >>> table = boxsum.integral(image, squares=True, out=folder.name + "/table.zarr")
        >>> table.box_var([[0, 0, 4, 3], [1, 1, 3, 2]]).round(3)
        array([11.917,  0.25 ])
        """
        return self._ask(boxes, VARIANCE, np.float64, out)

    def box_std(self, boxes: Any, *, out: np.ndarray | None = None) -> Any:
        """Return the standard deviation of the pixels of boxes, for a table with squares.

        Parameters
        ----------
        boxes, out
            As for :meth:`box_sum`.

        Returns
        -------
        deviations : ndarray of float64, shape (...) or (..., C)
            The standard deviations.

        Raises
        ------
        ValueError
            As for :meth:`box_sum`, and if the store has no squares.

        Examples
        --------
        >>> import boxsum, numpy as np, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
        >>> table = boxsum.integral(image, squares=True, out=folder.name + "/table.zarr")
        >>> table.box_std([[0, 0, 4, 3], [1, 1, 3, 2]]).round(3)
        array([3.452, 0.5  ])
        """
        return self._ask(boxes, DEVIATION, np.float64, out)

    def _ask(self, boxes: Any, what: int, dtype: Any, out: np.ndarray | None) -> Any:
        numbers = 6 if self._about["depth"] else 4
        boxes = as_boxes(boxes, numbers)
        channels = () if self._about["depth"] or self._about["channels"] == 1 else (self._about["channels"],)
        answers = results(boxes.shape[:-1] + channels, dtype, out, boxes)
        flat = boxes.reshape(-1, numbers)
        with self._bridge.named() if self._bridge else nullcontext():
            call("store_boxes", self._handle.value, flat, answers.reshape(len(flat), channels[0] if channels else 1), what)
        return answers if answers.ndim else answers[()]


def open(url: str | os.PathLike[str], *, cache: int = 256 << 20, workers: int | None = None) -> StoredTable:
    """Open a table in a Zarr store, made by ``integral(..., out=url)`` or ``boxsum integrate``.

    Parameters
    ----------
    url : str or path
        A folder or zip file whose name ends in .zarr or .zip, or an http or https URL.
        Other URLs, such as s3://, require fsspec and the package that it uses for them,
        such as s3fs, gcsfs or adlfs.
    cache : int, optional
        Maximum number of bytes of memory for chunks. The default is 256 MiB.
    workers : int, optional
        Maximum number of threads for one call. The default is 16, or one per available CPU
        if there are more.

    Returns
    -------
    table : StoredTable
        The table.

    Raises
    ------
    FileNotFoundError
        If there is no store.
    ValueError
        If the store holds no table, or `cache` is not positive.

    Examples
    --------
    >>> import boxsum, numpy as np, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> _ = boxsum.integral(image, out=folder.name + "/table.zarr")
    >>> table = boxsum.open(folder.name + "/table.zarr")
    >>> table.box_sum([[0, 0, 4, 3], [1, 1, 3, 2]])
    array([66, 11], dtype=uint64)
    """
    location = os.fspath(url)
    cache = whole(cache, "cache", 1, (1 << 63) - 1)
    bridge = Bridge(location) if is_remote(location) else None
    ready()
    try:
        with bridge.named() if bridge else nullcontext():
            handle = Handle("store_open", (bridge.url if bridge else location).encode(), cache, thread_count(workers))
    except OSError as error:
        raise located(error, location, redacted(location)) from None
    return StoredTable(handle, location, bridge)


def is_location(out: Any) -> bool:
    """Report whether `out` names a store."""
    return isinstance(out, (str, os.PathLike))


def integrate(array: Any, out: str | os.PathLike[str], *, squares: bool, volume: bool, workers: int | None) -> StoredTable:
    """Write the table of an array to a store, chunk by chunk.

    The array is the path or URL of a Zarr array, a zarr-python array, or anything with a
    shape, a dtype and slices, such as dask, xarray, h5py and NumPy arrays. Arrays that are
    not in a Zarr folder are first copied to a temporary one, chunk by chunk. A table for a
    URL such as s3:// is made in a temporary folder, then uploaded.
    """
    location = _location(array)
    if location is not None:
        return _made(location, out, squares, volume, workers)
    with tempfile.TemporaryDirectory(prefix="boxsum-") as folder:
        location = str(Path(folder) / "source.zarr")
        _copy(array, location)
        return _made(location, out, squares, volume, workers)


def _made(location: str, out: str | os.PathLike[str], squares: bool, volume: bool, workers: int | None) -> StoredTable:
    if is_remote(os.fspath(out)):
        with Upload(os.fspath(out)) as upload:
            _made(location, upload.folder, squares, volume, workers)
        return open(out)
    if is_remote(location):
        bridge = Bridge(location)
        with bridge.named():
            return _made(bridge.url, out, squares, volume, workers)
    ready()
    work = {"from": location, "to": os.fspath(out), "squares": squares, "volume": volume, "workers": thread_count(workers)}
    call("store_integrate", json.dumps(work).encode())
    return open(out)


def _location(array: Any) -> str | None:
    """Return the location of a Zarr array, or None if this library cannot find it."""
    if isinstance(array, (str, os.PathLike)):
        return os.fspath(array)
    root = getattr(getattr(array, "store", None), "root", None)  # set for zarr-python's LocalStore
    if isinstance(root, Path) and isinstance(getattr(array, "path", None), str):
        return str(root / array.path)
    return None


def _copy(array: Any, location: str) -> None:
    """Write an array of another library to a Zarr array, one part at a time."""
    data = getattr(array, "data", None)  # of xarray, whose own slices carry coordinates
    if hasattr(array, "dims") and hasattr(data, "shape"):
        array = data
    if not hasattr(array, "shape") or not hasattr(array, "dtype") or not hasattr(array, "__getitem__"):
        array = plain(array)
    shape, dtype = tuple(int(n) for n in array.shape), np.dtype(array.dtype).newbyteorder("=")
    if len(shape) not in (2, 3):
        raise ValueError(f"image must have two or three axes, got shape {shape}")
    last = shape[2:] if len(shape) == 3 and shape[2] <= 64 else ()
    plane = shape[: len(shape) - len(last)]
    chunk = tuple(min(n, 1024 if len(plane) == 2 else 128) or 1 for n in plane) + last
    handle = Handle("store_create", location.encode(), dtype.name.encode(), json.dumps({"shape": shape, "chunk": chunk}).encode())
    for place in np.ndindex(*(-(-n // c) for n, c in zip(shape, chunk))):
        at = [p * c for p, c in zip(place, chunk)]
        where = tuple(slice(a, min(a + c, n)) for a, c, n in zip(at, chunk, shape))
        part = np.ascontiguousarray(plain(array[where]), dtype)
        call("store_write", handle.value, part, json.dumps(at).encode(), json.dumps(list(part.shape)).encode())
