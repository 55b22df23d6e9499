"""Tables of arrays on a CUDA device, whatever library has them.

Arrays are read where they are, and tables are written there, by work on the stream
that is current in the caller's library. Nothing waits for it.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, Callable

import numpy as np

from . import _native, _shapes, _types, _wide
from ._arguments import DEVIATION, MEAN, NOT_WHOLE, SUM, TILTED, UPRIGHT, VOLUME, arrays_out, axes_of, device_number, refuse_overlap, same_type
from ._native import LayoutError, call, flat_array

_SIGNED: dict[Any, Any] = {np.dtype("u4"): np.dtype("i4"), np.dtype("u8"): np.dtype("i8")}
_LINE = 256  # bytes on which rows of tables lie for a device to write them fast


def _shadow(pointer: int, shape: tuple, strides: tuple, dtype: np.dtype) -> np.ndarray:
    """An array that says where one of a device lies; nothing there may be read."""
    described = {"data": (pointer, True), "shape": shape, "strides": strides, "typestr": dtype.str, "version": 3}
    return np.asarray(type("Shadow", (), {"__array_interface__": described})())


_MOST_PLANS = 256
_planned: Any = None  # the library that has the plans
_all: list[Cuda] = []


class Cuda:
    """What arrays on a CUDA device have in common.

    Libraries say how to read an array (``parts``: pointer, shape, strides, type),
    which device and stream to use, and how to make and convert arrays.
    """

    signed = False  # whether sums are signed by default

    def __init__(self, find: Callable[[Any], Any]) -> None:
        _all.append(self)
        self.find = find  # what knows the library of an array
        self._numbers: dict[tuple, int] = {}
        self._plans: dict[tuple, int] = {}

    def number(self, index: int) -> int:
        lib = _native.loaded or _native.load()
        number = self._numbers.get((lib, index))
        if number is None:
            number = self._numbers[lib, index] = device_number(f"cuda:{index}")
        return number

    def integral(self, image: Any, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any) -> Any:
        return self.tables(image, UPRIGHT, dtype, squares, tilted, out, device)

    def again(self, image: Any, out: Any) -> bool:
        """Queues a table into out by the plan of another of its kind, and reports whether there is one."""
        return False

    def plan(self, key: Any, image: bytes, table: bytes, number: int) -> None:
        """Keeps in mind how a table was queued, for the next of its kind."""
        global _planned
        if _planned is not _native.loaded or len(self._plans) >= _MOST_PLANS:  # also in the child of a fork
            for kind in _all:
                kind._plans.clear()
            call("forget_plans")
            _planned = _native.loaded
        self._plans[key] = call("plan", image + table, UPRIGHT, number)

    def key(self, image: Any, out: Any) -> tuple | None:
        """What calls of one kind have in common, None for none."""
        return None

    def volume(self, volume: Any, dtype: Any, squares: bool, out: Any, workers: Any) -> Any:
        return self.tables(volume, VOLUME, dtype, squares, False, out, None)

    def tables(self, image: Any, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, device: Any) -> Any:
        image = given_image = self.read(image)
        parts = _, shape, _, pixel = self.parts(image)
        index = self.index(image)
        if device is not None and device not in ("gpu", "cuda", f"cuda:{index}"):
            raise ValueError(f"the image is on cuda:{index}, and device says {device!r}: copy it there first")
        axes = axes_of(shape, kind)
        outs = self.outs(out, 1 + bool(squares) + bool(tilted))
        wanted = None if dtype is None else self.numpy_type(dtype)
        for o in outs:
            if o is not None and self.index(o) != index:
                raise ValueError(f"the image is on cuda:{index}, and out on cuda:{self.index(o)}")
            if o is not None and kind != VOLUME:
                _shapes.forget_volume(o)
        if outs[0] is not None:
            wanted = same_type(wanted, self.parts(outs[0])[3])
        sums = _types.sums.get((pixel, wanted))
        if sums is None:
            like, sums = _types.convert(np.empty(0, pixel), wanted)
            image = self.astype(image, like.dtype)
            parts = _, shape, _, pixel = self.parts(image)
        if wanted is None:
            sums = _types.roomy(sums, shape[:axes], self.signed)
        types = [sums]
        if squares:
            types.append(_types.squares[pixel])
        if tilted:
            types.append(sums)
        if self.signed:  # but for sums that were asked for
            types = [t if t is sums and wanted is not None else _SIGNED.get(t, t) for t in types]
        table_shape = (shape[0] + 1, shape[1] + 1) + shape[2:] if axes == 2 else (shape[0] + 1, shape[1] + 1, shape[2] + 1) + shape[3:]
        tables = [self.new(table_shape, t, image, axes) if o is None else o for o, t in zip(outs, types)]
        if out is not None and len(tables) > 1:
            refuse_overlap([_shadow(*self.parts(t)) for t in tables])
        targets = [flat_array(*self.parts(t)) for t in tables]
        number, stream = self.number(index), self.stream(image)
        upright = targets[0] + targets[1] if squares else targets[0]
        for attempt in range(2):
            source = flat_array(*parts)
            try:
                call("on_device", source + upright, kind, number, stream)
                if tilted:
                    call("on_device", source + targets[-1], TILTED, number, stream)
                break
            except LayoutError:
                if attempt:
                    raise
                image = self.contiguous(image)
                parts = self.parts(image)
        if out is not None and len(tables) == 1 and kind == UPRIGHT and len(shape) == 2 and dtype is None and image is given_image:
            key = self.key(image, outs[0])
            if key is not None:
                self.plan(key, source, targets[0], number)
        if out is not None:
            given = arrays_out(out, len(tables), object)
            tables = [t if o is None else o for o, t in zip(given, tables)]
        tables = [self.hand_out(t) for t in tables]
        _wide.remember(tables[0], sums, pixel)
        return tables[0] if len(tables) == 1 else tuple(tables)

    def outs(self, out: Any, count: int) -> list:
        """The arrays of an ``out`` argument, as the other methods take them."""
        if out is None:
            return [None] * count
        outs = arrays_out(out, count, object)
        for o in outs:
            if o is not None and self.find(o) is not self:
                raise TypeError(f"out must be an array of the same kind as the image, not {type(o).__name__}")
        return [None if o is None else self.read(o) for o in outs]

    def read(self, array: Any) -> Any:
        """The array as the other methods take it."""
        return array

    def parts(self, array: Any) -> tuple:
        """Its address, shape, strides in bytes and type."""
        raise NotImplementedError

    def index(self, array: Any) -> int:
        """The number of its device."""
        raise NotImplementedError

    def stream(self, array: Any) -> int:
        """The stream on which to work."""
        raise NotImplementedError

    def new(self, shape: tuple, dtype: np.dtype, like: Any, axes: int) -> Any:
        """An array for a table, on the device of another."""
        raise NotImplementedError

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        """The array with another type."""
        raise NotImplementedError

    def contiguous(self, array: Any) -> Any:
        """A copy without gaps."""
        raise NotImplementedError

    def hand_out(self, table: Any) -> Any:
        """The table as the caller gets it."""
        return table

    def numpy_type(self, dtype: Any) -> np.dtype:
        return np.dtype(dtype)

    def layout(self, shape: tuple, dtype: np.dtype, axes: int) -> tuple[int, int, tuple]:
        """Bytes before a table, bytes in all, and its strides."""
        item = dtype.itemsize
        pixel = item * (shape[axes] if len(shape) > axes else 1)
        stride = -(-shape[axes - 1] * pixel // _LINE) * _LINE
        lead = -pixel % _LINE
        strides = (stride, pixel) if axes == 2 else (shape[1] * stride, stride, pixel)
        return lead, lead + shape[0] * strides[0], strides + (item,) if len(shape) > axes else strides

    def boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any) -> Any:
        raise TypeError(f"{type(table).__name__} knows no arithmetic to answer boxes with: make it an array of CuPy or PyTorch first")


def is_float(table: Any) -> bool:
    return "float" in str(table.dtype)


def _epsilon(table: Any) -> float:
    """Half a unit in the last place of 1, and 0 for integers."""
    return {4: 2.0**-24, 8: 2.0**-53}[table.dtype.itemsize] if is_float(table) else 0.0


def _product(numbers: Any) -> Any:
    return functools.reduce(operator.mul, numbers)


def _refuse_wide(table: Any, area: Any, axes: int) -> None:
    """Raises a ValueError for boxes whose sums may not fit 32 bits, where the table is so large that there can be some."""
    kind = str(table.dtype)
    if not kind.endswith("int32"):
        return
    largest = (1 << (_wide.pixel_bits(table) or 8)) - 1
    most = ((1 << 32) - 1 if "uint" in kind else (1 << 31) - 1) // largest
    if math.prod(n - 1 for n in table.shape[:axes]) > most and bool((area > most).any()):
        raise ValueError(f"a box of more than {most} pixels: its sum may not fit the {kind.rsplit('.', 1)[-1]} of the table; make it with dtype=int64")


def answers(xp: Any, table: Any, squares: Any, boxes: Any, what: int, real: Any) -> Any:
    """What :func:`boxsum.box_sum` and its kin say, by arithmetic of a library."""
    axes = boxes.shape[-1] // 2
    ends: list[tuple[Any, Any]] = []
    area: Any = 1
    for i in range(axes):
        most = table.shape[axes - 1 - i] - 1
        low = xp.clip(boxes[..., i], 0, most)
        high = xp.maximum(low, xp.clip(boxes[..., axes + i], 0, most))
        ends.insert(0, (low, high))
        area = area * (high - low)

    def total(t: Any) -> Any:
        plus: Any = 0
        minus: Any = 0
        for corner in range(1 << axes):
            entry = t[tuple(pair[1 - (corner >> i & 1)] for i, pair in enumerate(ends))]
            if bin(corner).count("1") % 2:
                minus = minus + entry
            else:
                plus = plus + entry
        return plus - minus

    if what != SUM:
        _refuse_wide(table, area, axes)
    sums = total(table)
    if table.ndim > axes:
        area = area[..., None]
    empty = area == 0
    if what == SUM:
        return xp.where(empty, xp.zeros_like(sums), sums)
    count = real(xp.maximum(area, xp.ones_like(area)))
    mean = xp.where(empty, xp.zeros_like(real(sums)), real(sums) / count)
    if what == MEAN:
        return mean
    spread = real(total(squares)) / count - mean * mean
    if is_float(table) or is_float(squares):
        # What rounding may have done: see package exact of the library, which is where the bound is from.
        entry = real(squares[tuple(high for _, high in ends)])
        pixels = real(_product(high for _, high in ends))
        if table.ndim > axes:
            pixels = pixels[..., None]
        grown = 16 * math.sqrt(sum(table.shape[:axes]))
        of_mean = grown * _epsilon(table) * xp.sqrt(pixels * entry) / count
        noise = grown * _epsilon(squares) * entry / count + 2 * abs(mean) * of_mean + of_mean * of_mean
        spread = xp.where(spread > 50 * noise, spread, xp.full_like(spread, math.nan))
    else:
        spread = xp.where(spread < 0, xp.zeros_like(spread), spread)
    spread = xp.where(area <= 1, xp.zeros_like(spread), spread)
    return xp.sqrt(spread) if what == DEVIATION else spread


def check_boxes(table: Any, boxes: Any, out: Any) -> None:
    if boxes.ndim == 0 or boxes.shape[-1] not in (4, 6):
        raise ValueError(f"an array of shape {tuple(boxes.shape)}: the last axis must have 4 or 6 numbers")
    _shapes.check(table, boxes.shape[-1] // 2, readable=False)
    if "float" in str(boxes.dtype) and not bool((boxes - boxes.round() == 0).all()):
        raise ValueError(NOT_WHOLE)
    if out is not None:
        raise ValueError("out is for tables of the host")
