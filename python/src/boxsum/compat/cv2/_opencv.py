"""The names that only OpenCV has."""

from __future__ import annotations

import functools
from typing import Any


def attribute(module: str, name: str) -> Any:
    """Return an attribute of one of OpenCV's modules, for a name that ours lacks."""
    ours = f"boxsum.compat.{module}"
    if name.startswith("__") and name != "__version__":  # names of Python's own
        raise AttributeError(f"module {ours!r} has no attribute {name!r}")
    try:
        theirs = _module(module)
    except ImportError:
        raise AttributeError(f"module {ours!r} has no attribute {name!r}: it would be OpenCV's, which is not installed") from None
    try:
        return getattr(theirs, name)
    except AttributeError:
        raise AttributeError(f"neither {ours!r} nor OpenCV's {module!r} has an attribute {name!r}") from None


def names(module: str, ours: list[str]) -> list[str]:
    """Return our names and those of one of OpenCV's modules, if it is installed."""
    try:
        return sorted({*ours, *(name for name in dir(_module(module)) if not name.startswith("_"))})
    except ImportError:
        return ours


def _module(module: str) -> Any:
    """Return one of OpenCV's modules; those inside of cv2 are attributes of it."""
    import cv2

    try:
        return functools.reduce(getattr, module.split(".")[1:], cv2)
    except AttributeError:
        raise ImportError(f"the installed OpenCV has no {module}") from None
