"""Tables of arrays on a CUDA device, for any library.

Arrays are read in place, and tables are written, by work queued on the current stream of
the caller's library. Nothing waits for it.
"""

from __future__ import annotations

import itertools
import math
import threading
from typing import Any, Callable

import numpy as np

from . import _batch, _known, _native, _shapes, _types
from ._arguments import DEVIATION, MEAN, NOT_WHOLE, SUM, TILTED, UPRIGHT, VOLUME, arrays_out, axes_of, device_number, refuse_overlap, same_type
from ._dlpack import View
from ._native import LayoutError, call, flat_array

_SIGNED: dict[Any, Any] = {np.dtype("u4"): np.dtype("i4"), np.dtype("u8"): np.dtype("i8")}
_LINE = 256  # alignment in bytes of table rows for fast device writes


def _shadow(pointer: int, shape: tuple[Any, ...], strides: tuple[Any, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array that describes device memory; its elements must not be read."""
    described = {"data": (pointer, True), "shape": shape, "strides": strides, "typestr": dtype.str, "version": 3}
    return np.asarray(type("Shadow", (), {"__array_interface__": described})())


_MOST_PLANS = 256
_planned: Any = None  # the library instance that holds the plans
_planning = threading.RLock()  # held while a plan is made
_all: list[Cuda] = []


_PLANES = 8  # added to a kind: the first axis is that of a batch, as in the library


def _launches(kind: int, lead: int, *arrays: tuple[Any, ...]) -> Any:
    """Yield the arrays of each launch: all at once, or one volume at a time."""
    if not lead:
        yield (0, *(flat_array(*a) for a in arrays))
    elif kind == VOLUME:
        for at in np.ndindex(*arrays[0][1][:lead]):
            yield (0, *(flat_array(p + sum(i * s for i, s in zip(at, strides)), shape[lead:], strides[lead:], t) for p, shape, strides, t in arrays))
    elif 0 not in arrays[0][1][:lead]:
        yield (_PLANES, *(flat_array(*_in_a_row(lead, *a)) for a in arrays))


def _in_a_row(lead: int, pointer: int, shape: tuple[Any, ...], strides: tuple[Any, ...], dtype: np.dtype) -> tuple[Any, ...]:
    """Return a batch of images at even distances as one array."""
    count, step = 1, 0
    for n, stride in zip(shape[lead - 1 :: -1], strides[lead - 1 :: -1]):
        if n == 1:
            continue
        if count > 1 and stride != count * step:
            raise LayoutError("the images of a batch must be evenly spaced in memory")
        step = step if count > 1 else stride
        count *= n
    if count > 1 and step == 0:
        raise LayoutError("the images of a batch must not share memory")
    return pointer, (count, *shape[lead:]), (step or shape[lead] * strides[lead], *strides[lead:]), dtype


class Cuda:
    """The common base of adapters for arrays on a CUDA device.

    Subclasses know how to read an array (``parts``: pointer, shape, strides, dtype), which
    device and stream to use, and how to make and convert arrays.
    """

    signed = False  # whether sums are signed by default

    def __init__(self, find: Callable[[Any], Any]) -> None:
        _all.append(self)
        self.find = find  # returns the adapter for an array
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._plans: dict[tuple[Any, ...], int] = {}

    def number(self, index: int) -> int:
        lib = _native.loaded or _native.load()
        number = self._numbers.get((lib, index))
        if number is None:
            number = self._numbers[lib, index] = device_number(f"cuda:{index}")
        return number

    def integral(self, image: Any, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any) -> Any:
        return self.tables(image, UPRIGHT, dtype, squares, tilted, out, device)

    def again(self, image: Any, out: Any) -> bool:
        """Queue a table into `out` by the plan of a similar call; report whether there is one."""
        return False

    def plan(self, key: Any, image: bytes, table: bytes, number: int, kind: int = UPRIGHT, *more: Any) -> int:
        """Store how a table was queued, for similar calls, and return the number of the plan.

        If there are too many plans, all are dropped. The library keeps them until that happens
        again, so that other threads can still use the ones they have just made.
        """
        global _planned
        with _planning:
            if _planned is not _native.loaded or len(self._plans) >= _MOST_PLANS:  # also in the child of a fork
                for library in _all:
                    library._plans.clear()
                    library.forget()
                call("forget_plans")
                _planned = _native.loaded
            plan = self._plans[key] = call("plan", image + table, kind, number, *more)
        return plan

    def forget(self) -> None:
        """Drop other state that depends on plans."""

    def key(self, image: Any, out: Any) -> tuple[Any, ...] | None:
        """Return what similar calls have in common, or None."""
        return None

    def volume(self, volume: Any, dtype: Any, squares: bool, out: Any, workers: Any) -> Any:
        return self.tables(volume, VOLUME, dtype, squares, False, out, None)

    def batches(self, image: Any, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any, axes: Any) -> Any:
        """Compute the tables of a batch, those of images in one launch."""
        image = self.read(image)
        _, shape, strides, pixel = self.parts(image)
        order = _batch.order_of(shape, strides, pixel.itemsize, axes, (3,) if kind == VOLUME else (2,), turn=kind == UPRIGHT and not tilted)
        outs = self.outs(out, 1 + bool(squares) + bool(tilted))
        for o in outs:
            if o is not None and len(self.parts(o)[1]) != len(shape):
                raise ValueError(f"out must have one more element along the axes {tuple(axes)} than the image of shape {shape}, got shape {self.parts(o)[1]}")
        order = order.fit(*(self.parts(o) for o in outs if o is not None))
        seen = None if out is None else tuple(None if o is None else self.turned(o, order.axes) for o in outs)
        made = self.tables(self.turned(image, order.axes), kind, dtype, squares, tilted, seen, device, order.lead)
        made = made if isinstance(made, tuple) else (made,)
        given = arrays_out(out, len(made), object)
        tables = tuple(self.hand_out(self.turned(m, order.back)) if o is None else o for m, o in zip(made, given))
        return tables[0] if len(tables) == 1 else tables

    def tables(self, image: Any, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, device: Any, lead: int = 0) -> Any:
        image = given_image = self.read(image)
        parts = _, shape, _, pixel = self.parts(image)
        index = self.index(image)
        if device is not None and device not in ("gpu", "cuda", f"cuda:{index}"):
            raise ValueError(f"device must be 'cuda:{index}', where the image is, got {device!r} (or copy the image first)")
        axes = axes_of(shape[lead:], kind)
        outs = self.outs(out, 1 + bool(squares) + bool(tilted))
        wanted = None if dtype is None else self.numpy_type(dtype)
        for o in outs:
            if o is not None and self.index(o) != index:
                raise ValueError(f"out must be on cuda:{index} like the image, got cuda:{self.index(o)}")
            if o is not None and kind != VOLUME:
                _shapes.forget_volume(o)
        if out is not None:
            refuse_overlap([None if o is None else _shadow(*self.parts(o)) for o in outs], (_shadow(*parts),))
        if outs[0] is not None:
            wanted = same_type(wanted, self.parts(outs[0])[3])
        sums = _types.sums.get((pixel, wanted))
        if sums is None:
            like, sums = _types.convert(np.empty(0, pixel), wanted)
            image = self.astype(image, like.dtype)
            parts = _, shape, _, pixel = self.parts(image)
        if wanted is None:
            sums = _types.roomy(sums, shape[lead : lead + axes], self.signed)
        types = [sums]
        if squares:
            types.append(_types.squares[pixel])
        if tilted:
            types.append(sums)
        if self.signed:  # except sums of a requested type
            types = [t if t is sums and wanted is not None else _SIGNED.get(t, t) for t in types]
        leading, table_shape = shape[:lead], tuple(n + 1 for n in shape[lead : lead + axes]) + shape[lead + axes :]
        whole, count = table_shape, axes
        if lead:  # tables follow each other like the slices of a volume
            whole, count = (math.prod(leading) * (table_shape[0] if axes == 3 else 1),) + table_shape[axes - 2 :], 3
        tables = [self.split(self.new(whole, t, image, count), leading + table_shape) if o is None else o for o, t in zip(outs, types)]
        number, stream = self.number(index), self.stream(image)
        image = self.fill(image, tables, kind, number, stream, squares, tilted, lead)
        if out is not None and len(tables) == 1 and not lead and kind == UPRIGHT and len(shape) == 2 and dtype is None and image is given_image:
            key = self.key(image, outs[0])
            if key is not None and not _known.widest(pixel, types[0], False):  # the short path would not remember the range
                self.plan(key, flat_array(*parts), flat_array(*self.parts(outs[0])), number)
        digits = self.digits(image, tables, kind, number, stream, axes) if squares and pixel.kind == "f" and not lead else None
        if out is not None:
            given = arrays_out(out, len(tables), object)
            tables = [t if o is None else o for o, t in zip(given, tables)]
        tables = [t if lead else self.hand_out(t) for t in tables]
        for i, table in enumerate(tables):
            is_squares = squares and i == 1
            bound = _known.widest(pixel, types[i], is_squares)
            _known.forget(table)
            if bound or digits is not None and i < 2:
                _known.remember(table, _known.Known(bound, pixel.kind == "i", digits if i < 2 else None))
        return tables[0] if len(tables) == 1 else tuple(tables)

    def fill(self, image: Any, tables: list[Any], kind: int, number: int, stream: int, squares: bool, tilted: bool, lead: int = 0) -> Any:
        """Write the tables of an image, and return the image in a readable memory layout."""
        for attempt in range(2):
            try:
                for kinds, source, *targets in _launches(kind, lead, *(self.parts(a) for a in (image, *tables))):
                    call("on_device", source + targets[0] + (targets[1] if squares else b""), kinds | kind, number, stream)
                    if tilted:
                        call("on_device", source + targets[-1], kinds | TILTED, number, stream)
                break
            except LayoutError:
                if attempt:
                    raise
                image = self.contiguous(image)
        return image

    def digits(self, image: Any, tables: list[Any], kind: int, number: int, stream: int, axes: int) -> _known.Digits | None:
        """Return more digits of the sums and squares of floats far from zero: tables less an offset.

        A few pixels decide. They are read here, after all work queued before.
        """
        sample = self.sample(image, axes)
        if sample is None:
            return None
        offset = center(sample)
        if not offset:
            return None
        shifted = [self.new(tuple(self.parts(t)[1]), self.parts(t)[3], image, axes) for t in tables[:2]]
        self.fill(image - offset, shifted, kind, number, stream, True, False)
        return _known.Digits(shifted[0], shifted[1], offset, last=[self.copy(t[-1]) for t in tables[:2]])

    def sample(self, image: Any, axes: int) -> np.ndarray | None:
        """Return a few evenly spread pixels in host memory, or None if they cannot be read now."""
        return None

    def copy(self, array: Any) -> Any:
        """Return a copy without gaps."""
        raise NotImplementedError

    def outs(self, out: Any, count: int) -> list[Any]:
        """Return the arrays of an `out` argument, as the other methods take them."""
        if out is None:
            return [None] * count
        outs = arrays_out(out, count, object)
        for o in outs:
            if o is not None and not isinstance(o, View) and self.find(o) is not self:
                raise TypeError(f"out must be an array of the same kind as the image, not {type(o).__name__}")
        return [None if o is None else self.read(o) for o in outs]

    def read(self, array: Any) -> Any:
        """Return the array as the other methods take it."""
        return array

    def parts(self, array: Any) -> tuple[Any, ...]:
        """Return the address, shape, strides in bytes, and dtype of an array."""
        raise NotImplementedError

    def index(self, array: Any) -> int:
        """Return the number of an array's device."""
        raise NotImplementedError

    def stream(self, array: Any) -> int:
        """Return the stream to work on."""
        raise NotImplementedError

    def new(self, shape: tuple[Any, ...], dtype: np.dtype, like: Any, axes: int) -> Any:
        """Return a new array for a table, on the device of another."""
        raise NotImplementedError

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        """Return the array converted to another type."""
        raise NotImplementedError

    def contiguous(self, array: Any) -> Any:
        """Return a copy without gaps."""
        raise NotImplementedError

    def turned(self, array: Any, axes: tuple[Any, ...]) -> Any:
        """Return the array with permuted axes."""
        return array.transpose(axes)

    def split(self, array: Any, shape: tuple[Any, ...]) -> Any:
        """Return the array with its first axis split into several."""
        return array.reshape(shape)

    def hand_out(self, table: Any) -> Any:
        """Return the table as the caller gets it."""
        return table

    def numpy_type(self, dtype: Any) -> np.dtype:
        return np.dtype(dtype)

    def layout(self, shape: tuple[Any, ...], dtype: np.dtype, axes: int) -> tuple[int, int, tuple[Any, ...]]:
        """Return the bytes before a table, the bytes in all, and its strides."""
        item = dtype.itemsize
        pixel = item * (shape[axes] if len(shape) > axes else 1)
        stride = -(-shape[axes - 1] * pixel // _LINE) * _LINE
        lead = -pixel % _LINE
        strides = (stride, pixel) if axes == 2 else (shape[1] * stride, stride, pixel)
        return lead, lead + shape[0] * strides[0], strides + (item,) if len(shape) > axes else strides

    def batch_boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any, axes: Any) -> Any:
        """Answer boxes of a batch: at once if they apply to all images, otherwise image by image."""
        table = self.read(table)
        boxes = boxes if hasattr(boxes, "ndim") else np.asarray(boxes)
        order = _batch.order_of(tuple(table.shape), (0,) * len(table.shape), 1, axes, (boxes.shape[-1] // 2,))
        tables: list[Any] = [None if t is None else self.turned(self.read(t), order.axes) for t in (table, squares)]
        leading, entries = tuple(tables[0].shape[: order.lead]), tuple(tables[0].shape[order.lead :])
        own, each = tuple(boxes.shape[:-2]), tuple(boxes.shape[-2:-1])
        if len(own) > len(leading) or any(n not in (1, m) for n, m in zip(own, leading)):
            raise ValueError(
                f"boxes must have shape ({', '.join(map(str, leading))}, K, {boxes.shape[-1]}), "
                f"fewer of its leading axes, or (K, {boxes.shape[-1]}) for a batch of shape {leading}, got {tuple(boxes.shape)}"
            )
        if math.prod(own) == 1:  # treat the tables as one with channels
            axes = (*range(order.lead, len(leading) + len(entries)), *range(order.lead))
            sums, squared = (None if t is None else self.turned(t, axes).reshape((*entries, -1)) for t in tables)
            found = self.boxes(sums, squared, boxes.reshape(each + (boxes.shape[-1],)), what, out)
            return self.turned(found, (len(each), *range(len(each)))).reshape(leading + each)
        found = []
        for at in np.ndindex(*leading):
            some = boxes[tuple(min(i, n - 1) for i, n in zip(at, own))]
            found.append(self.boxes(tables[0][at], None if squares is None else tables[1][at], some, what, out))
        return self.stack(found).reshape(leading + each)

    def stack(self, arrays: list[Any]) -> Any:
        raise NotImplementedError

    def boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any) -> Any:
        raise TypeError(f"{type(table).__name__} supports no arithmetic (convert it to a CuPy or PyTorch array first)")


def is_float(table: Any) -> bool:
    """Report whether a table holds floats."""
    return "float" in str(table.dtype)


_SAMPLES, _FAR = 8, 2  # samples along each axis, and how many times their range from zero values must lie: as in the library's package engine


def spread(length: int) -> list[int]:
    """Return evenly spread positions in a length."""
    return list(range(length)) if length <= _SAMPLES else [(2 * i + 1) * length // (2 * _SAMPLES) for i in range(_SAMPLES)]


def center(sample: np.ndarray) -> float:
    """Return a number in the middle of pixels that all lie far from zero, and 0 for others."""
    finite = sample[np.isfinite(sample)].astype(float)
    if not finite.size:
        return 0.0
    least, most = float(finite.min()), float(finite.max())
    middle, size = least + (most - least) / 2, most - least
    if not abs(middle) > _FAR * size or abs(middle) > float(np.finfo(np.float32).max):
        return 0.0
    if size > 0:  # few digits, so that fewer differences are rounded
        grain = 2.0 ** (math.floor(math.log2(size)) - 3)
        middle = round(middle / grain) * grain
    return float(np.float32(middle))


def _epsilon(table: Any) -> float:
    """Return half a unit in the last place of 1, and 0 for integers."""
    return {4: 2.0**-24, 8: 2.0**-53}[table.dtype.itemsize] if is_float(table) else 0.0


def _refuse_wide(table: Any, bound: int, area: Any, axes: int, squares: bool = False) -> None:
    """Raise a ValueError if the sum of a box may not fit the type of the table."""
    kind = str(table.dtype).rsplit(".", 1)[-1]
    if is_float(table):
        return
    bits = 64 if squares else 8 * table.dtype.itemsize - ("uint" not in kind)  # squares are unsigned
    if not bound:
        bound = 255 if table.dtype.itemsize == 4 else (1 << 16 if squares else 1 << 32) - 1
    most = ((1 << bits) - 1) // (bound * bound if squares else bound)
    if math.prod(n - 1 for n in table.shape[:axes]) > most and bool((area > most).any()):
        raise ValueError(f"a box has more than {most} pixels: its sum may not fit in the {kind} of the table (make it with dtype=int64)")


class _Boxes:
    """Boxes clipped to the shape of a table."""

    def __init__(self, xp: Any, table: Any, boxes: Any) -> None:
        self.axes = axes = boxes.shape[-1] // 2
        self.ends: list[tuple[Any, Any]] = []  # slices and rows first
        self.area: Any = 1
        for i in range(axes):
            most = table.shape[axes - 1 - i] - 1
            low = xp.clip(boxes[..., i], 0, most)
            high = xp.maximum(low, xp.clip(boxes[..., axes + i], 0, most))
            self.ends.insert(0, (low, high))
            self.area = self.area * (high - low)
        self.channels = table.shape[axes] if table.ndim > axes else 0

    def along_channels(self, numbers: Any) -> Any:
        return numbers[..., None] if self.channels else numbers

    def corners(self) -> Any:
        """Return the indices of the corners of the boxes."""
        return itertools.product(*self.ends)

    def total(self, table: Any) -> Any:
        """Return the sums of boxes, adding the corners in the library's order."""
        (y0, y1), (x0, x1) = self.ends[-2:]

        def plane(*z: Any) -> Any:
            return table[(*z, y1, x1)] - table[(*z, y1, x0)] - table[(*z, y0, x1)] + table[(*z, y0, x0)]

        return plane() if self.axes == 2 else plane(self.ends[0][1]) - plane(self.ends[0][0])

    def steps(self) -> Any:
        """Return the most additions that led to the last corner, as the library's package exact."""
        steps: Any = 8
        for _, high in self.ends[:-1]:
            steps = steps + high
        return self.along_channels(steps + self.ends[-1][1] * min(self.channels or 1, 4) // 4)


def _whole(xp: Any, sums: Any, squares: Any, real: Any, table: Any) -> Any:
    """Report whether entries are whole numbers small enough to be exact: see exact.IsWhole."""
    limits = (2.0**46, 2.0**46) if _epsilon(table) else (math.inf, 2.0**53)
    if _epsilon(table) == 2.0**-24:
        limits = 2.0**20, limits[1]
    s, q = real(sums), real(squares)
    return (abs(s) < limits[0]) & (q < limits[1]) & (s == xp.floor(s)) & (q == xp.floor(q))


def _of_integers(xp: Any, n: Any, sums: Any, squares: Any, real: Any, integer: Any) -> Any:
    """Return the variance of n integers, accurate to some units in the last place.

    It is Q/n - (r/n)**2, where r is the sum and Q the sum of squares of the distances from a
    whole number m near the mean. Both are exact in wrapping arithmetic, and Q is not less
    than r, so little cancels.
    """
    n = integer(n)
    m = integer(xp.round(real(sums) / real(n)))
    r = sums - n * m
    q = squares - m * (sums + r)
    unsigned = real((q >> 32) & 0xFFFFFFFF) * 2.0**32 + real(q & 0xFFFFFFFF)
    share = real(r) / real(n)
    return unsigned / real(n) - share * share


def _variance(xp: Any, table: Any, squares: Any, b: _Boxes, real: Any, integer: Any) -> Any:
    """Return the variance of boxes.

    It is NaN if rounding may exceed a fiftieth of it: see the library's package exact.
    """
    n = b.along_channels(xp.maximum(b.area, xp.ones_like(b.area)))
    sums, second = b.total(table), b.total(squares)
    if not is_float(table) and not is_float(squares):
        return _of_integers(xp, n, integer(sums), integer(second), real, integer)
    count = real(n)
    mean = real(sums) / count
    v = real(second) / count - mean * mean
    last = tuple(high for _, high in b.ends)
    entry = real(squares[last])
    pixels: Any = 1
    for high in last:
        pixels = pixels * high
    grown = real(b.steps()) * 2.0**b.axes / count
    of_mean = grown * _epsilon(table) * xp.sqrt(real(b.along_channels(pixels)) * entry)
    noise = grown * _epsilon(squares) * entry + 2 * abs(mean) * of_mean + of_mean * of_mean
    whole = _whole(xp, sums, second, real, table)
    for at in b.corners():
        whole = whole & _whole(xp, table[at], squares[at], real, table)
    zero = xp.zeros_like(v)
    exact = _of_integers(xp, n, integer(xp.where(whole, real(sums), zero)), integer(xp.where(whole, real(second), zero)), real, integer)
    if not is_float(table):  # also for sums beyond 2**53
        exact = _of_integers(xp, n, integer(sums), integer(xp.where(whole, real(second), zero)), real, integer)
    known = xp.where(whole, exact, xp.where(v > 50 * noise, v, xp.full_like(v, math.nan)))
    return xp.where(v > 0.5e6 * noise, v, known)


def answers(xp: Any, table: Any, squares: Any, boxes: Any, what: int, real: Any, integer: Any) -> Any:
    """Answer :func:`boxsum.box_sum` and related functions with a library's own arithmetic."""
    b = _Boxes(xp, table, boxes)
    empty = b.along_channels(b.area == 0)
    if what == SUM:
        sums = b.total(table)
        return xp.where(empty, xp.zeros_like(sums), sums)
    known = _known.of(table)
    _refuse_wide(table, known.bound, b.area, b.axes)
    count = real(b.along_channels(xp.maximum(b.area, xp.ones_like(b.area))))
    digits = known.digits
    if what == MEAN:
        sums = real(b.total(table))
        mean = sums / count
        if digits is not None:
            mean = xp.where(_holds(table, digits.last[0]), digits.offset + real(b.total(digits.sums)) / count, mean)
        return xp.where(empty, xp.zeros_like(mean), mean)
    about = _known.of(squares)
    _refuse_wide(squares, about.bound, b.area, b.axes, True)
    v = _variance(xp, table, squares, b, real, integer)
    if digits is not None and about.digits is digits:
        same = _holds(table, digits.last[0]) & _holds(squares, digits.last[1])
        v = xp.where(same, _variance(xp, digits.sums, digits.squares, b, real, integer), v)
    v = xp.where(b.along_channels(b.area <= 1), xp.zeros_like(v), v)
    return xp.sqrt(v) if what == DEVIATION else v


def _holds(table: Any, last: Any) -> Any:
    """Report whether a table still has its original last row or slice, as a number on the device."""
    return (table[-1] == last).all()


def check_boxes(table: Any, boxes: Any, out: Any) -> None:
    """Raise a ValueError for boxes or an `out` that do not go with a table on a device."""
    if boxes.ndim == 0 or boxes.shape[-1] not in (4, 6):
        raise ValueError(f"boxes must have 4 or 6 numbers along the last axis, got shape {tuple(boxes.shape)}")
    _shapes.check(table, boxes.shape[-1] // 2, readable=False)
    if "float" in str(boxes.dtype) and not bool((boxes - boxes.round() == 0).all()):
        raise ValueError(NOT_WHOLE)
    if out is not None:
        raise ValueError("out must be None for tables on a device")
