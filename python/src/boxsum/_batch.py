"""Batches: which axes of an array are those of images, and one call for all of them.

An array with ``axes`` is viewed in a fixed order: leading axes, those of an image or a
volume, and channels if they are adjacent in memory. Results have the axes of the array again.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Sequence

import numpy as np
from numpy import ndarray

from ._native import call


class Order:
    """The order in which the axes of an array are viewed.

    There are `lead` leading axes, `count` axes of an image or a volume, and perhaps channels.
    """

    __slots__ = ("axes", "back", "channels", "count", "lead", "plain")

    def __init__(self, axes: tuple[int, ...], lead: int, count: int, plain: Order | None = None) -> None:
        self.plain = plain or self  # the order without channels or exchanged rows and columns
        self.axes, self.lead, self.count, self.channels = axes, lead, count, len(axes) > lead + count
        self.back = tuple(sorted(range(len(axes)), key=axes.__getitem__))

    def fit(self, *outs: tuple[Any, ...]) -> Order:
        """Return this order, or the array's own if an `out` does not fit it, with a copy of the array.

        An `out` is a tuple of address, shape, strides and dtype.
        """
        last = self.axes[-1]
        if all(strides[last] == dtype.itemsize or shape[last] <= 1 for _, shape, strides, dtype in outs):
            return self
        return self.plain

    def see(self, array: Any) -> Any:
        """Return a view of an array in this order."""
        return array.transpose(self.axes)

    def restore(self, array: Any) -> Any:
        """Return a view of a result in the axes of the array."""
        return array.transpose(self.back)

    def answers(self, array: Any) -> Any:
        """Return answers to boxes, (lead, ..., channels), with a table's channels among the leading axes."""
        if not self.channels:
            return array
        place = sum(a < self.axes[-1] for a in self.axes[: self.lead])
        return np.moveaxis(array, -1, place)


def order_of(shape: Sequence[int], strides: Sequence[int], item: int, axes: Any, counts: tuple[int, ...], turn: bool = False) -> Order:
    """Return the order for `axes`, whose number must be in `counts`.

    With `turn`, rows and columns may be exchanged if columns are adjacent in memory.
    """
    n = len(shape)
    try:
        wanted = [operator.index(a) for a in axes]
    except TypeError:
        raise TypeError(f"axes must be integers such as (-2, -1), got {axes!r}") from None
    if len(wanted) not in counts:
        raise ValueError(f"axes must have {' or '.join(map(str, counts))} numbers, got {axes!r}")
    if any(not -n <= a < n for a in wanted):
        raise ValueError(f"axes must be from {-n} to {n - 1} for an array of shape {tuple(shape)}, got {axes!r}")
    wanted = [a % n for a in wanted]
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"axes must be different, got {axes!r}")
    rest = [a for a in range(n) if a not in wanted]
    plain = Order((*rest, *wanted), len(rest), len(wanted))
    x = wanted[-1]
    for c in rest:  # channels whose values are adjacent, pixel by pixel
        if shape[c] > 1 and strides[c] == item and (strides[x] == shape[c] * item or shape[x] == 1) and strides[x] != item:
            rest.remove(c)
            return Order((*rest, *wanted, c), len(rest), len(wanted), plain)
    if turn and strides[x] != item and shape[x] > 1 and (strides[wanted[-2]] == item or shape[wanted[-2]] == 1):
        wanted[-2], wanted[-1] = wanted[-1], wanted[-2]
    return Order((*rest, *wanted), len(rest), len(wanted), plain)


def order_for(array: Any, axes: Any, counts: tuple[int, ...], turn: bool = False) -> Order:
    """Return the order for `axes` of an array, as :func:`order_of`."""
    return order_of(array.shape, array.strides, array.itemsize, axes, counts, turn)


def run(lead: int, workers_at: int, name: str, *arguments: Any, shared: tuple[int, ...] = ()) -> Any:
    """Call a function of the library for every image of a batch.

    Arguments at the positions in `shared` have no leading axes.
    """
    if lead == 0:
        return call(name, *arguments)
    bits = sum(1 << i for i, a in enumerate(arguments) if isinstance(a, ndarray) and i not in shared)
    return call("batch", name.encode(), lead, bits, workers_at, *arguments)


def spread_boxes(boxes: ndarray, leading: tuple[int, ...]) -> tuple[ndarray, tuple[int, ...]]:
    """Return boxes for every image, (lead, K, numbers), without a copy, and the shape per image.

    ``(K, 4)`` applies to all images. ``(N, K, 4)`` has boxes for each image along the first
    leading axis, and so on; an axis of length 1 applies to all.
    """
    own = boxes.shape[:-2]
    if len(own) > len(leading) or any(n not in (1, m) for n, m in zip(own, leading)):
        raise ValueError(
            f"boxes must have shape ({', '.join(map(str, leading))}, K, {boxes.shape[-1]}), "
            f"fewer of its leading axes, or (K, {boxes.shape[-1]}) for a batch of shape {leading}, got {boxes.shape}"
        )
    each = boxes.shape[-2:-1]
    flat = boxes.reshape(own + (1,) * (len(leading) - len(own)) + (math.prod(each), boxes.shape[-1]))
    return np.broadcast_to(flat, leading + flat.shape[-2:]), each
