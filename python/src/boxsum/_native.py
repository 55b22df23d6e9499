"""The Go library: where it is, how its functions are called, and what they raise.

Functions take arrays by the C structure of NumPy's array interface, which
``ndarray.__array_struct__`` has ready in a capsule: nothing about an array is
unpacked in Python. Calls release the GIL.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import sys
import tempfile
import threading
from ctypes import c_char, c_char_p, c_double, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

# The functions of python/clib; every one returns None or the text of an error.
_SIGNATURES = {
    "integral": [c_void_p, c_void_p, c_void_p, c_int64, c_int64, c_int64],
    "time": [c_void_p, c_void_p, c_void_p, c_int64, c_void_p],
    "collect": [],
    "time_device": [c_int64, c_int64, c_int64, c_int64, c_void_p],
    "boxes": [c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_int64],
    "windows": [c_void_p, c_void_p, c_void_p, c_void_p, c_int64],
    "rotated": [c_void_p, c_char, c_int64, c_int64, c_int64, c_int64, c_int64, c_void_p],
    "rotated_boxes": [c_void_p, c_void_p, c_void_p, c_int64, c_int64],
    "rotated_cells": [c_void_p, c_void_p, c_void_p],
    "rotated_nearest": [c_void_p, c_void_p, c_void_p],
    "rotated_bounds": [c_void_p, c_void_p],
    "release": [c_void_p],
    "histogram": [c_void_p, c_void_p, c_void_p, c_int64, c_double, c_double, c_int64, c_int64],
    "histogram_boxes": [c_void_p, c_void_p, c_void_p, c_int64, c_double, c_int64],
    "moments": [c_void_p, c_int64, c_void_p],
    "moments_boxes": [c_void_p, c_void_p, c_void_p, c_int64, c_int64],
    "haar": [c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_int64, c_int64, c_void_p, c_void_p, c_int64, c_int64, c_int64],
    "haar_features": [c_void_p, c_int64, c_int64, c_int64, c_int64, c_void_p, c_void_p],
    "device": [c_char_p, c_void_p],
    "devices": [c_void_p],
    "device_of": [c_void_p, c_void_p],
    "on_device": [c_char_p, c_int64, c_int64, c_int64, c_void_p],
    "wait": [c_int64, c_void_p],
    "take": [c_int64, c_int64, c_void_p],
    "give": [c_int64, c_void_p],
}

# What the library calls of Python, in the order of python/clib/python.h.
_PYTHON = (
    "PyCapsule_GetPointer", "PyEval_SaveThread", "PyEval_RestoreThread", "PyObject_GetAttr", "Py_IncRef", "Py_DecRef",
    "PyLong_AsLongLong", "PyErr_Occurred", "PyLong_FromLongLong", "PyUnicode_InternFromString", "PyCFunction_NewEx",
    "PyType_FromSpec", "PyType_GenericAlloc", "PyObject_Free", "PyObject_Type", "PyBuffer_FillInfo",
)  # fmt: skip

# address(capsule, None) is the address of the structure in a capsule.
address = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class LayoutError(ValueError):
    """The array must be copied first."""


_EXCEPTIONS = {"V": ValueError, "T": TypeError, "M": MemoryError, "R": RuntimeError, "L": LayoutError}


class Library:
    """The functions of one loaded library, by the names of _SIGNATURES."""

    def __init__(self, path: str) -> None:
        native = ctypes.CDLL(path)
        for name, arguments in _SIGNATURES.items():
            function = getattr(native, "boxsum_" + name)
            function.argtypes = arguments
            function.restype = c_void_p
            setattr(self, name, function)
        # Functions of Python's own, for the usual calls: table(image, table, squares, workers),
        # and those that lend memory for tables.
        start = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, ctypes.py_object, c_int64)(("boxsum_python", native))
        functions = (c_void_p * len(_PYTHON))(*(ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p) for name in _PYTHON))
        start(functions, None, object.__basicsize__)
        method = ctypes.PYFUNCTYPE(ctypes.py_object, c_int64)(("boxsum_method", native))
        self.table, self.lend, self.back, self.limit = map(method, range(4))
        self._free = native.boxsum_free
        self._free.argtypes = [c_void_p]
        self._free.restype = None

    def __getattr__(self, name: str) -> Any:  # only for what is not there
        raise AttributeError(f"the library has no {name}")

    def failure(self, text: int) -> Exception:
        """The exception for what a function returned."""
        message = self.text(text)
        return _EXCEPTIONS[message[0]](message[1:])

    def text(self, at: int) -> str:
        """A string of the library's, which is freed."""
        message = ctypes.string_at(at).decode("utf-8", "replace")
        self._free(at)
        return message


#: The library once it is loaded, which takes place on first use: processes that
#: are forked before share nothing.
loaded: Library | None = None

_loading = threading.Lock()
_forked = False


def load() -> Library:
    """The library, loaded on first use."""
    global loaded
    with _loading:
        if loaded is None:
            _check_address_space()
            loaded = _private_copy() if _forked else Library(str(_path()))
        return loaded


_RESERVED = 1536 << 20  # bytes of addresses, few of them memory, for Go's runtime and its first threads


def _check_address_space() -> None:
    """Raises a MemoryError where Go's runtime would end the process."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    try:
        mmap.mmap(-1, _RESERVED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        raise MemoryError("the limit on this process's addresses (ulimit -v) is too low to load boxsum: it takes 1.6 GB more") from None


def _path() -> Path:
    suffix = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    path = Path(__file__).with_name(f"libboxsum.{suffix}")
    if not path.exists():
        raise ImportError(f"{path} is missing: install the package with pip, which builds it from the Go sources")
    return path


def _private_copy() -> Library:
    """Another copy of the library, for the child of a fork.

    Go's runtime does not survive a fork: its threads are gone. What the parent
    loaded is therefore left alone, and a copy, which the system takes for
    another library, starts a runtime of its own.
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
        return Library(f"/proc/self/fd/{memory}")
    except OSError:  # where memory may not be run as a program
        with tempfile.TemporaryDirectory() as folder:
            return Library(shutil.copy(path, folder))


def _after_fork() -> None:
    global loaded, _loading, _forked
    _loading = threading.Lock()
    if loaded is not None:
        loaded, _forked = None, True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def call(name: str, *arguments: object) -> None:
    """Calls a function of the library; arrays go in as their structures."""
    lib = loaded or load()
    capsules = []
    plain = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            capsule = argument.__array_struct__
            capsules.append(capsule)  # lives until the call is over
            argument = address(capsule, None)
        plain.append(argument)
    text = getattr(lib, name)(*plain)
    if text:
        raise lib.failure(text)


class Handle:
    """A table that only the library can read, freed with its last reference."""

    __slots__ = ("_library", "_value")

    def __init__(self, name: str, *arguments: object) -> None:
        self._library: Library | None = None
        value = ctypes.c_size_t()
        call(name, *arguments, ctypes.addressof(value))
        self._library, self._value = loaded, value.value

    @property
    def value(self) -> int:
        if self._library is not loaded:
            raise RuntimeError("this table was made before the process was forked, and cannot be read here: make it again")
        return self._value

    def __reduce__(self) -> Any:
        raise TypeError("the table is in memory of the library, and can be neither pickled nor copied: make it again from its image")

    def __del__(self) -> None:
        if self._library is not None and self._library is loaded:
            self._library.release(self._value)
