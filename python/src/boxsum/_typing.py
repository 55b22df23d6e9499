"""Types of arguments, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NewType, Protocol, Sequence, SupportsIndex, Union

import numpy as np


class Exchangeable(Protocol):
    """An array of another library, such as PyTorch or CuPy."""

    def __dlpack__(self, *arguments: Any, **named: Any) -> Any: ...


class Convertible(Protocol):
    """An object that NumPy can convert to an array."""

    def __array__(self, *arguments: Any, **named: Any) -> Any: ...


if TYPE_CHECKING:
    Number = Union[int, float, np.number]
    Row = Union[Sequence[Number], Convertible]
    Table = Union[np.ndarray, Exchangeable, Convertible, Sequence[Row], Sequence[Sequence[Row]]]
    Boxes = Union[np.ndarray, Exchangeable, Row, Sequence[Row], Sequence[Sequence[Row]]]
    Image = Table
    Pair = Union[tuple[SupportsIndex, SupportsIndex], list[Any], np.ndarray]
    Sides = Union[SupportsIndex, Pair]
    Axes = Union[Sequence[int], None]
else:  # so that help() shows the names
    Table, Boxes, Image, Pair, Sides, Axes = (NewType(name, object) for name in ("Table", "Boxes", "Image", "Pair", "Sides", "Axes"))
