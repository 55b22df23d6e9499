"""Tables and boxes in host memory."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy import ndarray

from . import _batch, _known, _shapes, _types
from ._arguments import MEAN, SUM, TILTED, UPRIGHT, VOLUME, arrays_out, as_boxes, axes_of, device_number, plain, refuse_overlap, results, same_type, thread_count
from ._memory import layout_of, new_tables
from ._native import LayoutError, call

COUNTS = np.dtype("u4")  # of valid pixels


def batches(
    image: ndarray, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: int | None, device: str | None, axes: Any, signed: bool = False
) -> Any:
    """Compute the tables of a batch: of every image or volume along the given axes."""
    order = _batch.order_for(image, axes, (3,) if kind == VOLUME else (2,), turn=kind == UPRIGHT and not tilted)
    outs = arrays_out(out, 1 + bool(squares) + bool(tilted), ndarray)
    for o in outs:
        if o is not None and o.ndim != image.ndim:
            raise ValueError(f"out must have one more element along the axes {tuple(axes)} than the image of shape {image.shape}, got shape {o.shape}")
    order = order.fit(*((0, o.shape, o.strides, o.dtype) for o in outs if o is not None))
    seen = None if out is None else tuple(None if o is None else order.see(o) for o in outs)
    made = tables(order.see(image), kind, dtype, squares, tilted, seen, workers, device, order.lead, signed)
    made = made if isinstance(made, tuple) else (made,)
    given = tuple(order.restore(m) if o is None else o for m, o in zip(made, outs))
    return given[0] if len(given) == 1 else given


def tables(
    image: ndarray, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: int | None, device: str | None, lead: int = 0, signed: bool = False
) -> Any:
    """Compute the tables of an array in host memory, with `lead` leading batch axes.

    With `signed`, default sums are chosen so that they fit a signed type.
    """
    axes = axes_of(image.shape[lead:], kind)
    outs = arrays_out(out, 1 + bool(squares) + bool(tilted), ndarray)
    if outs[0] is not None:
        dtype = same_type(dtype, outs[0].dtype)
    elif dtype is not None:
        dtype = np.dtype(dtype)
    if kind != VOLUME:
        for o in outs:
            if o is not None:
                _shapes.forget_volume(o)
    number = device_number(device)
    threads = thread_count(workers)
    refuse_overlap(outs, (image,))  # checked before the image is copied, which would hide an overlap
    if _types.splits(image, dtype):
        if not (squares or tilted):
            return _halves(image, kind, dtype, outs[0], workers, device, lead)
        dtype = image.dtype.newbyteorder("=") if dtype is None else dtype
        image = _types.narrow(image, dtype)
    sums = _types.sums.get((image.dtype, dtype))
    if sums is None and image.dtype == _types.HALF and kind == UPRIGHT and not tilted and number < 0:
        sums = _types.half_sums(dtype)
    elif sums is None:
        image, sums = _types.convert(image, dtype)
    if dtype is None:
        sums = _types.roomy(sums, image.shape[lead : lead + axes], signed)
    leading, shape = image.shape[:lead], tuple(n + 1 for n in image.shape[lead : lead + axes]) + image.shape[lead + axes :]
    types = [sums] + ([_types.squares[image.dtype]] if squares else []) + ([sums] if tilted else [])
    made = _new(leading, shape, axes, outs, types)
    digits = None
    if squares and lead:
        fill(image, kind, made[0], made[1], made[-1] if tilted else None, threads, number, lead=lead)
    elif squares:
        digits = _known.squared(lambda one, other, shift: fill(image, kind, one, other, None, threads, number, shift), made, outs, image, axes)
        if tilted:
            fill(image, TILTED, made[-1], None, None, threads, number)
    else:
        fill(image, kind, made[0], None, made[-1] if tilted else None, threads, number, lead=lead)
    for i, table in enumerate(made):
        _known.note(table, image, squares and i == 1, digits if i < 2 else None)
    return made[0] if len(made) == 1 else tuple(made)


def _new(leading: tuple[Any, ...], shape: tuple[Any, ...], axes: int, outs: list[Any], types: list[Any]) -> list[Any]:
    """Return arrays for tables: those of `outs`, and new ones for the rest."""
    whole, count = shape, axes
    if leading:  # tables follow each other like the slices of a volume
        whole, count = (math.prod(leading) * (shape[0] if axes == 3 else 1),) + shape[axes - 2 :], 3
    new = iter(new_tables(*(layout_of(whole, t, count, i > 0) for i, (o, t) in enumerate(zip(outs, types)) if o is None)))
    return [next(new).reshape(leading + shape) if o is None else o for o in outs] if leading else [next(new) if o is None else o for o in outs]


def fill(
    image: ndarray, kind: int, sums: ndarray, squares: ndarray | None, tilted: ndarray | None, threads: int = 0, number: int = -1, shift: int = 0,
    lead: int = 0,
) -> Any:  # fmt: skip
    """Write the tables of an image, copying it first if its memory layout is not supported."""
    for attempt in range(2):
        try:
            bits = _batch.run(lead, 4, "integral", image, sums, squares, kind, threads, number, shift)
            if tilted is not None:
                _batch.run(lead, 4, "integral", image, tilted, None, TILTED, threads, number)
            return bits
        except LayoutError:
            if attempt:
                raise
            refuse_overlap((sums, squares, tilted), (image,))
            image = np.array(image, order="C", subok=False)
    return None


def _halves(image: ndarray, kind: int, dtype: Any, out: Any, workers: int | None, device: str | None, lead: int = 0) -> ndarray:
    """Return the sums of 64-bit integers, computed from their halves as channels."""
    axes = axes_of(image.shape[lead:], kind)
    native = image.dtype.newbyteorder("=")
    shape = image.shape[:lead] + tuple(n + 1 for n in image.shape[lead : lead + axes]) + image.shape[lead + axes :]
    if 0 in image.shape[lead + axes :]:
        raise ValueError(f"image must have at least one channel, got shape {image.shape}")
    if image.size:
        halves = np.ascontiguousarray(image, native).view(np.uint32).reshape(image.shape[: lead + axes] + (-1,))
        sums = tables(halves, kind, np.uint64, False, False, None, workers, device, lead)
        low, high = (0, 1) if sys.byteorder == "little" else (1, 0)
        table = (sums[..., low::2] + (sums[..., high::2] << np.uint64(32))).reshape(shape)
    else:
        table = np.zeros(shape, np.uint64)
    table = table.view(native if dtype is None else np.dtype(dtype).newbyteorder("="))
    if out is not None:
        if out.shape != shape:
            raise ValueError(f"out must have shape {shape}, got {out.shape}")
        out[...] = table
        table = out
    _known.note(table, image)
    return table


def ask(
    table: Any, squares: Any, boxes: Any, what: int, out: ndarray | None, workers: int | None, counts: Any = None, known: Any = None, axes: Any = None
) -> Any:
    """Answer one question for every box."""
    about: tuple[Any, ...] = ()
    if what != SUM:
        table, squares = (t if t is None or isinstance(t, ndarray) else plain(t) for t in (table, squares))  # lists are treated as copies
        table, squares, counts, about = _known.for_query(table, squares, counts, what == MEAN, known)
    table = plain(table)
    if squares is not None:
        squares = plain(squares)
    boxes = as_boxes(boxes, 4) if counts is not None else as_boxes(boxes, 4, 6)
    if counts is not None and (counts.dtype != COUNTS or counts.shape != table.shape):
        raise ValueError(f"counts must be uint32 with the shape of the table, {table.shape}, got {counts.dtype} with shape {counts.shape}")
    more = () if counts is None and not about else (counts, *about)
    if axes is not None:
        return answer_batch("boxes", (table, squares), boxes, axes, what, out, workers, *more)
    _shapes.check(table, boxes.shape[-1] // 2)
    return answer("boxes", (table, squares), boxes, boxes.shape[-1] // 2, what, out, workers, *more)


def answer_batch(name: str, tables: tuple[Any, ...], boxes: ndarray, axes: Any, what: int, out: ndarray | None, workers: int | None, *more: Any) -> Any:
    """Answer a question for every table of a batch, as :func:`answer`."""
    count = boxes.shape[-1] // 2
    order = _batch.order_for(tables[0], axes, (count,))
    if order.channels and (out is not None or boxes.ndim - 2 > order.lead or order.axes[-1] < max(order.axes[: order.lead], default=0)):
        order = _batch.order_of(tables[0].shape, (0,) * tables[0].ndim, 1, axes, (count,))

    def see(t: Any) -> Any:
        if not isinstance(t, ndarray):
            return t
        if t.shape != tables[0].shape:
            raise ValueError(f"tables must have the same shape, got {tables[0].shape} and {t.shape}")
        return order.see(t)

    tables, more = tuple(map(see, tables)), tuple(map(see, more))
    lead, table = order.lead, tables[0]
    spread, each = _batch.spread_boxes(boxes, table.shape[:lead])
    channels = table.shape[lead + count :]
    wanted = table.shape[:lead] + each + channels
    answers = results(wanted, table.dtype.newbyteorder("=") if what == SUM else np.float64, out, boxes, *tables, *more)
    target = answers.reshape(table.shape[:lead] + (spread.shape[-2], channels[0] if channels else 1))
    for attempt in range(2):
        try:
            _batch.run(lead, len(tables) + 3, name, *tables, spread, target, what, thread_count(workers), *more)
            break
        except LayoutError:
            if attempt:
                raise
            tables, more = (tuple(np.array(t, t.dtype.newbyteorder("="), order="C") if isinstance(t, ndarray) else t for t in some) for some in (tables, more))
    answers = order.answers(answers)
    return answers if answers.ndim else answers[()]


def answer(name: str, tables: tuple[Any, ...], boxes: ndarray, axes: int, what: int, out: ndarray | None, workers: int | None, *more: Any) -> Any:
    """Answer a question about boxes; the first table determines the type of sums."""
    table = tables[0]
    channels = table.shape[axes:]
    answers = results(boxes.shape[:-1] + channels, table.dtype.newbyteorder("=") if what == SUM else np.float64, out, boxes, *tables, *more)
    flat = boxes.reshape(-1, 2 * axes)
    target = answers.reshape(len(flat), channels[0] if channels else 1)
    threads = thread_count(workers)
    try:
        call(name, *tables, flat, target, what, threads, *more)
    except LayoutError:
        tables, more = (tuple(np.array(t, t.dtype.newbyteorder("="), order="C") if isinstance(t, ndarray) else t for t in some) for some in (tables, more))
        call(name, *tables, flat, target, what, threads, *more)
    return answers if answers.ndim else answers[()]
