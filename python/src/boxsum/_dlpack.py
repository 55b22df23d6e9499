"""The two protocols by which libraries show each other memory of a device.

``__cuda_array_interface__`` is a dictionary; DLPack a C structure in a capsule.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _native
from ._native import call

CPU = 1
CUDA = (2, 13)  # device memory, and memory that the driver moves


class View:
    """An array in memory of a device, and whom that belongs to."""

    __slots__ = ("pointer", "shape", "strides", "dtype", "stream", "index", "owner")

    def __init__(self, pointer: int, shape: tuple, strides: tuple, dtype: np.dtype, stream: int, index: int | None, owner: Any) -> None:
        self.pointer, self.shape, self.strides, self.dtype = pointer, shape, strides, dtype
        self.stream, self.index, self.owner = stream, index, owner


def _packed(shape: tuple, item: int) -> tuple:
    strides = []
    for n in reversed(shape):
        strides.append(item)
        item *= n
    return tuple(reversed(strides))


def from_interface(array: Any) -> View:
    """The view of an array with ``__cuda_array_interface__``."""
    described = array.__cuda_array_interface__
    if described.get("mask") is not None:
        raise TypeError("arrays with a mask cannot be summed")
    dtype = np.dtype(described["typestr"])
    shape = tuple(described["shape"])
    strides = described.get("strides") or _packed(shape, dtype.itemsize)
    stream = described.get("stream")
    return View(described["data"][0], shape, tuple(strides), dtype, 1 if stream is None else stream, None, array)


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_KINDS = "iuf"  # by their codes
_BOOL = 6


def from_capsule(array: Any) -> View:
    """The view of an array with ``__dlpack__``, for work on the default stream."""
    stream = 1
    capsule = array.__dlpack__(stream=stream)
    tensor = ctypes.cast(_native.address(capsule, b"dltensor"), ctypes.POINTER(_Managed)).contents.tensor
    if tensor.lanes != 1 or tensor.code >= len(_KINDS) and tensor.code != _BOOL:
        raise TypeError("arrays of this type cannot be summed")
    dtype = np.dtype(bool) if tensor.code == _BOOL else np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(s * dtype.itemsize for s in tensor.strides[: tensor.ndim]) if tensor.strides else _packed(shape, dtype.itemsize)
    pointer = (tensor.data or 0) + tensor.byte_offset
    return View(pointer, shape, strides, dtype, stream, tensor.device_id, capsule)


class Memory:
    """Memory of a device, freed with its last reference."""

    def __init__(self, number: int, size: int) -> None:
        self._library: Any = None  # a failure leaves nothing to give back
        pointer = ctypes.c_size_t()
        call("take", number, size, ctypes.addressof(pointer))
        self._library, self._number, self.pointer = _native.loaded, number, pointer.value

    def __reduce__(self) -> Any:
        raise TypeError("memory of a device can be neither pickled nor copied: copy it to the host first")

    def __del__(self) -> None:
        if self._library is not None and self._library is _native.loaded:
            _native.loaded.give(self._number, self.pointer)


_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))

_lent: dict[int, tuple] = {}  # what capsules point to, by address


@_Deleter
def _delete(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule: int) -> None:
    if _is_valid(capsule, b"dltensor"):  # nobody took it
        _lent.pop(_pointer_of(capsule, b"dltensor"), None)


class DeviceArray:
    """A table on a CUDA device, for other libraries to take.

    ``cupy.asarray``, ``torch.as_tensor`` and ``numba.cuda.as_cuda_array`` do so by
    ``__cuda_array_interface__``, ``from_dlpack`` of any library by ``__dlpack__``,
    all without a copy.

    ::

        table = boxsum.integral(numba_array)
        cupy.asarray(table)[-1, -1]
    """

    def __init__(self, view: View, number: int) -> None:
        self._view = view
        self._number = number

    @property
    def shape(self) -> tuple[int, ...]:
        """How many entries there are along each axis."""
        return self._view.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from an entry to the next along each axis."""
        return self._view.strides

    @property
    def dtype(self) -> np.dtype:
        """The type of the entries."""
        return self._view.dtype

    def __repr__(self) -> str:
        return f"<boxsum.DeviceArray of shape {self.shape}, {self.dtype}, on cuda:{self._view.index}>"

    @property
    def __cuda_array_interface__(self) -> dict:
        v = self._view
        return {"shape": v.shape, "typestr": v.dtype.str, "data": (v.pointer, False), "strides": v.strides, "stream": v.stream, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA[0], self._view.index or 0

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        v = self._view
        if stream not in (-1, v.stream):
            call("wait", self._number, v.stream)
        n = len(v.shape)
        item = v.dtype.itemsize
        shape = (ctypes.c_int64 * n)(*v.shape)
        strides = (ctypes.c_int64 * n)(*(s // item for s in v.strides))
        managed = _Managed()
        t = managed.tensor
        t.data, t.device_type, t.device_id, t.ndim = v.pointer, CUDA[0], v.index or 0, n
        t.code, t.bits, t.lanes = _KINDS.index(v.dtype.kind), 8 * item, 1
        t.shape, t.strides, t.byte_offset = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)), 0
        managed.deleter = _delete
        at = ctypes.addressof(managed)
        _lent[at] = (managed, shape, strides, v)
        return _new_capsule(at, b"dltensor", ctypes.cast(_drop, ctypes.c_void_p))
