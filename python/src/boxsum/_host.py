"""Tables and boxes in memory of the host."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy import ndarray

from . import _known, _shapes, _types
from ._arguments import MEAN, SUM, TILTED, VOLUME, arrays_out, as_boxes, axes_of, device_number, plain, refuse_overlap, results, same_type, thread_count
from ._memory import layout_of, new_tables
from ._native import LayoutError, call

COUNTS = np.dtype("u4")  # of valid pixels


def tables(image: ndarray, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: int | None, device: str | None) -> Any:
    """The tables of an array in memory of the host."""
    axes = axes_of(image.shape, kind)
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
    if _types.splits(image, dtype):
        if not (squares or tilted):
            return _halves(image, kind, dtype, outs[0], workers, device)
        dtype = image.dtype.newbyteorder("=") if dtype is None else dtype
        image = _types.narrow(image, dtype)
    sums = _types.sums.get((image.dtype, dtype))
    if sums is None:
        image, sums = _types.convert(image, dtype)
    if dtype is None:
        sums = _types.roomy(sums, image.shape[:axes])
    shape = tuple(n + 1 for n in image.shape[:axes]) + image.shape[axes:]
    types = [sums] + ([_types.squares[image.dtype]] if squares else []) + ([sums] if tilted else [])
    new = iter(new_tables(*(layout_of(shape, t, axes, i > 0) for i, (o, t) in enumerate(zip(outs, types)) if o is None)))
    made = [next(new) if o is None else o for o in outs]
    if tilted and out is not None:
        refuse_overlap(made)
    digits = None
    if squares:
        digits = _known.squared(lambda one, other, shift: fill(image, kind, one, other, None, threads, number, shift), made, outs, image, axes)
        if tilted:
            fill(image, TILTED, made[-1], None, None, threads, number)
    else:
        fill(image, kind, made[0], None, made[-1] if tilted else None, threads, number)
    for i, table in enumerate(made):
        _known.note(table, image, squares and i == 1, digits if i < 2 else None)
    return made[0] if len(made) == 1 else tuple(made)


def fill(
    image: ndarray, kind: int, sums: ndarray, squares: ndarray | None, tilted: ndarray | None, threads: int = 0, number: int = -1, shift: int = 0
) -> Any:
    """Writes the tables of an image, which is copied first if it lies in memory in another way than rows."""
    for attempt in range(2):
        try:
            bits = call("integral", image, sums, squares, kind, threads, number, shift)
            if tilted is not None:
                call("integral", image, tilted, None, TILTED, threads, number)
            return bits
        except LayoutError:
            if attempt:
                raise
            image = np.array(image, order="C", subok=False)
    return None


def _halves(image: ndarray, kind: int, dtype: Any, out: Any, workers: int | None, device: str | None) -> ndarray:
    """The sums of 64-bit integers: those of their halves, as channels."""
    axes = axes_of(image.shape, kind)
    native = image.dtype.newbyteorder("=")
    shape = tuple(n + 1 for n in image.shape[:axes]) + image.shape[axes:]
    if 0 in image.shape[axes:]:
        raise ValueError(f"an array of shape {image.shape}: an image without channels")
    if image.size:
        halves = np.ascontiguousarray(image, native).view(np.uint32).reshape(image.shape[:axes] + (-1,))
        sums = tables(halves, kind, np.uint64, False, False, None, workers, device)
        low, high = (0, 1) if sys.byteorder == "little" else (1, 0)
        table = (sums[..., low::2] + (sums[..., high::2] << np.uint64(32))).reshape(shape)
    else:
        table = np.zeros(shape, np.uint64)
    table = table.view(native if dtype is None else np.dtype(dtype).newbyteorder("="))
    if out is not None:
        if out.shape != shape:
            raise ValueError(f"out has shape {out.shape}, and the table {shape}")
        out[...] = table
        table = out
    _known.note(table, image)
    return table


def ask(table: Any, squares: Any, boxes: Any, what: int, out: ndarray | None, workers: int | None, counts: Any = None, known: Any = None) -> Any:
    """The answer to one question for every box, perhaps with what is known of the tables."""
    about: tuple = ()
    if what != SUM:
        table, squares, counts, about = _known.for_query(table, squares, counts, what == MEAN, known)
    table = plain(table)
    if squares is not None:
        squares = plain(squares)
    boxes = as_boxes(boxes, 4) if counts is not None else as_boxes(boxes, 4, 6)
    axes = boxes.shape[-1] // 2
    _shapes.check(table, axes)
    if counts is not None and (counts.dtype != COUNTS or counts.shape != table.shape):
        raise ValueError(f"counts of {counts.dtype} and shape {counts.shape}: they are of uint32, and of the shape of the table, {table.shape}")
    more = () if counts is None and not about else (counts, *about)
    return answer("boxes", (table, squares), boxes, axes, what, out, workers, *more)


def answer(name: str, tables: tuple, boxes: ndarray, axes: int, what: int, out: ndarray | None, workers: int | None, *more: Any) -> Any:
    """What a function of the library answers about boxes of tables, the first of which tells the type of sums."""
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
