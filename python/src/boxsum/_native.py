"""Loading and calling the Go library.

``call(name, *arguments)`` calls a function of python/clib without the GIL and returns None,
an int or a str; its errors are exceptions. Arrays are passed as the C structure of NumPy's
array interface, which ``ndarray.__array_struct__`` provides in a capsule, so that nothing
about an array is unpacked in Python.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import struct
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._core import LayoutError, call

__all__ = ["Handle", "LayoutError", "call", "flat_array", "load"]

#: The library, loaded on first use so that processes forked before that share nothing.
loaded: ctypes.CDLL | None = None

_loading = threading.Lock()
_forked = False


def load() -> ctypes.CDLL:
    """Return the library, loading it on first use."""
    global loaded
    with _loading:
        if loaded is None:
            _check_address_space()
            library = _private_copy() if _forked else ctypes.CDLL(str(_path()))
            functions = (library.boxsum_call, library.boxsum_find, library.boxsum_free, library.boxsum_queue)
            _core.use(load, *(ctypes.cast(function, ctypes.c_void_p).value for function in functions))
            loaded = library
        return loaded


_core.use(load, 0, 0, 0, 0)


_RESERVED = 1536 << 20  # bytes of address space, little of it memory, for Go's runtime and its first threads


def _check_address_space() -> None:
    """Raise a MemoryError if Go's runtime would end the process."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    try:
        mmap.mmap(-1, _RESERVED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        raise MemoryError("the limit on this process's address space (ulimit -v) is too low to load boxsum, which needs 1.6 GB more") from None


def _path() -> Path:
    suffix = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    path = Path(__file__).with_name(f"libboxsum.{suffix}")
    if not path.exists():
        raise ImportError(f"{path} is missing: install the package with pip, which builds it from the Go sources")
    return path


def _private_copy() -> ctypes.CDLL:
    """Load another copy of the library, for the child of a fork.

    Go's runtime does not survive a fork: its threads are gone. The library loaded by the
    parent is therefore left alone, and a copy, which the system treats as another library,
    starts a runtime of its own.
    """
    if sys.platform != "linux":
        raise RuntimeError(
            "boxsum was used before this process was forked, and cannot be used here: "
            "start processes with multiprocessing's 'spawn' or 'forkserver'"
        )
    path = _path()
    try:
        memory = os.memfd_create("boxsum")  # stays open: the system reads pages from it
        with open(path, "rb") as source:
            while os.sendfile(memory, source.fileno(), None, 1 << 30):
                pass
        return ctypes.CDLL(f"/proc/self/fd/{memory}")
    except OSError:  # memory may not be executable
        with tempfile.TemporaryDirectory() as folder:
            return ctypes.CDLL(shutil.copy(path, folder))


def _after_fork() -> None:
    global loaded, _loading, _forked
    _loading = threading.Lock()
    if loaded is not None:
        loaded, _forked = None, True
        _core.use(load, 0, 0, 0, 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


_pack = struct.Struct("=12q").pack  # boxsum_flat_array in python/clib/boxsum.h
_codes: dict[np.dtype, tuple[int, int]] = {}


def flat_array(pointer: int, shape: tuple[Any, ...], strides: tuple[Any, ...], dtype: np.dtype) -> bytes:
    """Return the description of an array of up to four axes, as bytes."""
    code = _codes.get(dtype)
    if code is None:
        code = _codes[dtype] = ord(dtype.kind), dtype.itemsize
    n = len(shape)
    if n == 2:
        return _pack(*code, 2, pointer, *shape, 0, 0, *strides, 0, 0)
    gap = (0,) * (4 - n)
    return _pack(*code, n, pointer, *shape, *gap, *strides, *gap)


class Handle:
    """A table that only the library can read, freed with its last reference."""

    __slots__ = ("_library", "_value")

    def __init__(self, name: str, *arguments: object) -> None:
        self._library: ctypes.CDLL | None = None  # after a failure there is nothing to free
        self._value = call(name, *arguments)
        self._library = loaded

    @property
    def value(self) -> int:
        """The library's number for the table."""
        if self._library is not loaded:
            raise RuntimeError("this table was made before the process was forked and cannot be read here (make it again)")
        return self._value

    def __reduce__(self) -> Any:
        raise TypeError("a table in memory of the library cannot be pickled or copied (make it again from its image)")

    def __del__(self) -> None:
        if self._library is not None and self._library is loaded:
            call("release", self._value)
