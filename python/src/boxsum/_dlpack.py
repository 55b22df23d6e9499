"""Exchange of device memory with other libraries.

``__cuda_array_interface__`` is a dictionary; DLPack is a C structure in a capsule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _native
from ._native import call, flat_array

CPU = 1
CUDA = (2, 13)  # device memory, and managed memory


class View:
    """An array in device memory, and the object that owns it."""

    __slots__ = ("pointer", "shape", "strides", "dtype", "stream", "index", "owner")

    def __init__(self, pointer: int, shape: tuple[Any, ...], strides: tuple[Any, ...], dtype: np.dtype, stream: int, index: int | None, owner: Any) -> None:
        self.pointer, self.shape, self.strides, self.dtype = pointer, shape, strides, dtype
        self.stream, self.index, self.owner = stream, index, owner


def _packed(shape: tuple[Any, ...], item: int) -> tuple[Any, ...]:
    strides = []
    for n in reversed(shape):
        strides.append(item)
        item *= n
    return tuple(reversed(strides))


def from_interface(array: Any) -> View:
    """Return a view of an array with ``__cuda_array_interface__``."""
    described = array.__cuda_array_interface__
    if described.get("mask") is not None:
        raise TypeError("masked arrays are not supported on a device (use .filled)")
    dtype = np.dtype(described["typestr"])
    shape = tuple(described["shape"])
    strides = described.get("strides") or _packed(shape, dtype.itemsize)
    stream = described.get("stream")
    return View(described["data"][0], shape, tuple(strides), dtype, 1 if stream is None else stream, None, array)


_KINDS = "iuf"  # indexed by DLPack's type codes
_BOOL = 6


def from_capsule(array: Any) -> View:
    """Return a view of an array with ``__dlpack__``, for work on the default stream."""
    stream = 1
    capsule = array.__dlpack__(stream=stream)
    pointer, index, code, bits, lanes, shape, strides = _core.from_dlpack(capsule)
    if lanes != 1 or code >= len(_KINDS) and code != _BOOL:
        raise TypeError(f"array must have integers, floats or bool, got DLPack type code {code} with {lanes} lanes")
    dtype = np.dtype(bool) if code == _BOOL else np.dtype(f"{_KINDS[code]}{bits // 8}")
    strides = _packed(shape, dtype.itemsize) if strides is None else tuple(s * dtype.itemsize for s in strides)
    return View(pointer, shape, strides, dtype, stream, index, capsule)


class Memory:
    """Device memory, freed with its last reference."""

    def __init__(self, number: int, size: int) -> None:
        self._library: Any = None  # after a failure there is nothing to give back
        self._number, self.pointer = number, call("take", number, size)
        self._library = _native.loaded

    def __reduce__(self) -> Any:
        raise TypeError("arrays on a device cannot be pickled or copied (copy them to the host first)")

    def __del__(self) -> None:
        if self._library is not None and self._library is _native.loaded:
            call("give", self._number, self.pointer)


class DeviceArray:
    """A table on a CUDA device, for use by other libraries.

    ``cupy.asarray``, ``torch.as_tensor`` and ``numba.cuda.as_cuda_array`` read it through
    ``__cuda_array_interface__``, and any library's ``from_dlpack`` through ``__dlpack__``,
    all without a copy.

    Attributes
    ----------
    shape : tuple of int
        Number of entries along each axis.
    strides : tuple of int
        Bytes between neighboring entries along each axis.
    dtype : numpy.dtype
        The type of the entries.

    Examples
    --------
    ::

        table = boxsum.integral(numba_array)
        cupy.asarray(table)[-1, -1]
    """

    def __init__(self, view: View, number: int) -> None:
        self._view = view
        self._number = number

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of entries along each axis."""
        return self._view.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """The number of bytes between neighboring entries along each axis."""
        return self._view.strides

    @property
    def dtype(self) -> np.dtype:
        """The type of the entries."""
        return self._view.dtype

    def __repr__(self) -> str:
        return f"<boxsum.DeviceArray of shape {self.shape}, {self.dtype}, on cuda:{self._view.index}>"

    @property
    def __cuda_array_interface__(self) -> dict[Any, Any]:
        v = self._view
        return {"shape": v.shape, "typestr": v.dtype.str, "data": (v.pointer, False), "strides": v.strides, "stream": v.stream, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA[0], self._view.index or 0

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        v = self._view
        if stream not in (-1, v.stream):
            call("wait", self._number, v.stream)
        return _core.to_dlpack(flat_array(v.pointer, v.shape, v.strides, v.dtype), v.index or 0, v)
