"""What is remembered about tables beyond their types.

Tables are plain arrays, and an array is interpreted by its type: uint32 sums are taken for
those of 8-bit pixels, for instance. Where that is not enough, the rest is remembered beside
the table, for as long as it lives and holds what was written to it:

- the range of the pixels, if sums of this type are usually of others;
- more digits of the sums and squares, if rounding would spoil deviations: tables of floats
  less an offset, or the squares of 32-bit integers modulo 2**64;
- the counts of valid pixels.

Views of a table share the corresponding part of all this. A copy is a plain array again:
its deviations may be NaN where those of the table are not, but are never wrong.
"""

from __future__ import annotations

import struct
import weakref
from functools import partial
from typing import Any, Callable

import numpy as np
from numpy import ndarray

from . import _types
from ._memory import layout_of, new_tables

LOST = (
    "this part, copy or combination of tables of valid pixels has lost its counts: pass counts=, or counts=False if all "
    "pixels are valid (table.copy() keeps the counts, numpy.array(table) does not)"
)


class ValidTable(ndarray):
    """The table of an image's valid pixels, which carries the table of their counts.

    It behaves as any other array. Views, and copies made by its own methods, carry the
    counts that belong to them, and :func:`box_mean`, :func:`box_var` and :func:`box_std`
    use them.

    Attributes
    ----------
    counts : ndarray of uint32 or None
        The number of valid pixels at every entry, or None if unknown, as for the sum of two
        tables with different counts.
    """

    counts: ndarray | None

    def __array_finalize__(self, obj: Any) -> None:
        counts = getattr(obj, "counts", None)
        self.counts = counts if counts is not None and counts.shape == self.shape else None

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, ValidTable) and self.counts is not None:
            part._with(self.counts[key])
        return part

    def _with(self, counts: ndarray | None) -> Any:
        """Set the counts and return this table."""
        self.counts = counts
        if counts is not None:
            _stamp(self.view(ndarray), _parts)
        return self

    def transpose(self, *axes: Any) -> Any:
        """Return the table with permuted axes; its counts are permuted too."""
        return super().transpose(*axes)._with(None if self.counts is None else self.counts.transpose(*axes))

    def swapaxes(self, one: Any, other: Any) -> Any:
        """Return the table with two axes exchanged; those of its counts are exchanged too."""
        return super().swapaxes(one, other)._with(None if self.counts is None else self.counts.swapaxes(one, other))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **named: Any) -> Any:
        """Apply a ufunc; the result keeps counts that all tables share."""
        if out:
            named["out"] = tuple(o.view(ndarray) if isinstance(o, ValidTable) else o for o in out)
        made = getattr(ufunc, method)(*(i.view(ndarray) if isinstance(i, ValidTable) else i for i in inputs), **named)
        counts = [getattr(i, "counts", None) for i in inputs if np.ndim(i)]
        common = counts[0] if method == "__call__" and all(same_counts(counts[0], c) for c in counts) else None
        results = []
        for i, result in enumerate(made if isinstance(made, tuple) else (made,)):
            if i < len(out) and out[i] is not None:
                result = out[i]
            elif type(result) is ndarray:
                result = result.view(ValidTable)
            if isinstance(result, ValidTable):
                result._with(common if common is not None and common.shape == result.shape else None)
            results.append(result)
        return tuple(results) if isinstance(made, tuple) else results[0]

    T = property(transpose, doc="The table with its axes in reverse order, and the counts too.")  # pyright: ignore[reportIncompatibleMethodOverride]

    def __reduce__(self) -> Any:
        array: Any = super().__reduce__()
        return array[0], array[1], (array[2], self.counts)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])
        self._with(state[1])


def same_counts(one: Any, other: Any) -> bool:
    """Report whether two tables of counts are known and equal."""
    return one is not None and other is not None and (one is other or one.__array_interface__ == other.__array_interface__ or np.array_equal(one, other))


# Fingerprints of the last tables of valid pixels, and of the last parts of them, to recognize copies.
_wholes: dict[tuple[Any, ...], None] = {}
_parts: dict[tuple[Any, ...], None] = {}


def _print(table: ndarray) -> tuple[Any, ...]:
    """Return what a copy of a table has in common with it."""
    return table.shape, table[-1].astype(np.float64).tobytes()


def _stamp(table: ndarray, prints: dict[tuple[Any, ...], None]) -> None:
    """Remember what identifies copies of a table, if anything does."""
    if table.ndim > 1 and table.size and table[-1].any():
        prints[_print(table)] = None
        if len(prints) > 64:
            prints.pop(tuple(prints)[0], None)  # atomic, whatever other threads do


def _copied(table: Any) -> bool:
    """Report whether an array is a copy of a table of valid pixels, or a view of such a copy.

    Small tables of all pixels differ from copies only in their sums. Large ones lie in memory
    that NumPy did not allocate.
    """
    owner = _owner(table)
    if isinstance(owner.base, tuple) or owner.ndim == 1 and owner.dtype == np.uint8:
        return False
    for seen in (table, owner):
        for one in (seen, *((seen[0], seen[-1]) if seen.ndim > 2 and len(seen) else ())):
            if one.ndim > 1 and one.dtype.kind in "iuf" and any(one.shape == shape for shape, _ in (*_wholes, *_parts)):
                if _print(one) in _wholes or _print(one) in _parts:
                    return True
    return False


class Digits:
    """More digits of the tables of sums and squares.

    They are tables of the pixels less an offset, or of the squares modulo 2**64.
    """

    __slots__ = ("last", "modulo", "offset", "squares", "sums")

    def __init__(self, sums: Any = None, squares: Any = None, offset: float = 0.0, modulo: Any = None, last: Any = None) -> None:
        self.sums, self.squares, self.offset, self.modulo = sums, squares, offset, modulo
        self.last = last  # for tables on a device, their last rows or slices, to compare there


class Known:
    """What is remembered about one table."""

    __slots__ = ("bound", "counts", "digits", "lost", "signed")

    def __init__(self, bound: int = 0, signed: bool = False, digits: Digits | None = None, counts: Any = None, lost: bool = False) -> None:
        self.bound, self.signed = bound, signed  # the largest magnitude of a pixel, or 0 if unknown, and whether pixels are signed
        self.digits, self.counts = digits, counts
        self.lost = lost  # counts exist, but are not known here

    @property
    def signed_bound(self) -> int:
        """The bound as the library takes it: the same 64 bits as a signed number."""
        return self.bound - (self.bound >> 63 << 64)

    def through(self, part: Callable[[Any], Any]) -> Known:
        """Return what is known of a part of the table."""
        digits, counts = self.digits, self.counts
        if digits is not None:
            parts = [None if t is None else part(t) for t in (digits.sums, digits.squares, digits.modulo)]
            digits = Digits(parts[0], parts[1], digits.offset, parts[2]) if any(p is not None for p in parts) else None
        if counts is not None:
            counts = part(counts)
        return Known(self.bound, self.signed, digits, counts, self.counts is not None and counts is None)


NOTHING = Known()

class Part:
    """The place of a table in its memory, and what is known of it."""

    __slots__ = ("dtype", "known", "last", "pointer", "shape", "strides")

    def __init__(self, table: Any, known: Known) -> None:
        self.known = known
        self.last: Any = None
        if isinstance(table, ndarray):
            self.pointer, self.shape, self.strides, self.dtype = _pointer(table), table.shape, table.strides, table.dtype
            self.last = self.sample()

    def sample(self) -> bytes:
        """Return entries that identify the table: from its last row or slice, and a few of all others."""
        described = {"data": (self.pointer, True), "shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "version": 3}
        table = np.asarray(type("Shadow", (), {"__array_interface__": described})())
        last = table[-1]
        if last.ndim > 1:
            last = last[last.shape[0] - 1 :: -max(1, last.shape[0] // 64)]
        side = {2: 32, 3: 12}.get(table.ndim, 6)
        return last.tobytes() + table[tuple(slice(n - 1, None, -max(1, n // side)) for n in self.shape)].tobytes()

    def holds(self) -> bool:
        """Report whether the table is unchanged, judging by a sample; device memory is not read."""
        return self.last is None or self.sample() == self.last

    def end(self) -> int:
        return self.pointer + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides)) + self.dtype.itemsize


memory: dict[int, tuple[weakref.ref[Any], list[Part]]] = {}  # by the id of the array that owns the memory of tables


def _owner(table: Any) -> Any:
    """Return the array that owns a table's memory, which may be the table."""
    while isinstance(table, ndarray) and isinstance(table.base, ndarray):
        table = table.base
    return table


def _pointer(table: ndarray) -> int:
    return table.__array_interface__["data"][0]


def remember(table: Any, known: Known) -> None:
    """Remember facts about a table for as long as its memory lives."""
    forget(table)
    owner = _owner(table)
    key = id(owner)
    found = memory.get(key)
    if found is not None and found[0]() is owner:
        found[1].append(Part(table, known))
        return
    try:
        memory[key] = weakref.ref(owner, lambda _: memory.pop(key, None)), [Part(table, known)]
    except TypeError:  # the library's arrays do not support weak references
        pass


def forget(table: Any) -> None:
    """Forget what is known of an array, because another table is written to it."""
    found = memory.get(id(_owner(table))) if memory else None
    if found is None:
        return
    if not isinstance(table, ndarray):
        found[1].clear()
        return
    one = Part.__new__(Part)
    one.pointer, one.shape, one.strides, one.dtype = _pointer(table), table.shape, table.strides, table.dtype
    found[1][:] = [p for p in found[1] if p.end() <= one.pointer or one.end() <= p.pointer]


def of(table: Any) -> Known:
    """Return what is known of a table, or of the part of a table that it is."""
    known = _recall(table) if memory else NOTHING
    if isinstance(table, ValidTable) and known.counts is None:
        return Known(known.bound, known.signed, known.digits, table.counts, table.counts is None)
    if (_wholes or _parts) and known is NOTHING and isinstance(table, ndarray) and _copied(table):
        return Known(lost=True)
    return known


def refuse_valid(table: Any) -> None:
    """Raise a ValueError for a table of valid pixels, whose other pixels would count as 0."""
    known = of(table)
    if known.lost or known.counts is not None:
        raise ValueError("a table of valid pixels is not supported here (make one of all pixels, such as that of image.filled(0))")


def _recall(table: Any) -> Known:
    owner = _owner(table)
    found = memory.get(id(owner))
    if found is None or found[0]() is not owner:
        base = None if isinstance(table, ndarray) else getattr(table, "_base", getattr(table, "base", None))  # private in PyTorch
        found = None if base is None else memory.get(id(base))
        if found is None or found[0]() is not base:
            return NOTHING
        return Known(found[1][0].known.bound, found[1][0].known.signed) if found[1] else NOTHING
    for part in found[1]:
        if not isinstance(table, ndarray):
            return part.known if part.holds() else NOTHING
        if table.dtype.itemsize == part.dtype.itemsize and part.pointer <= _pointer(table) < part.end() and part.holds():
            if (table.shape, table.strides, _pointer(table)) == (part.shape, part.strides, part.pointer):
                return part.known
            return part.known.through(partial(_same_part, table, part))
    return NOTHING


def _same_part(part: ndarray, whole: Part, other: ndarray) -> ndarray | None:
    """Return the part of another array that a view is of a table, or None if there is none."""
    if other.shape != whole.shape:
        return None
    start = _pointer(part) - whole.pointer
    at: list[Any] = []
    axes = list(zip(part.shape, part.strides))
    for length, stride in zip(whole.shape, whole.strides):
        first, start = divmod(start, stride) if stride > 0 else (0, start)
        if axes and axes[0][1] == stride:
            if first + axes[0][0] > length:
                return None
            at.append(slice(first, first + axes.pop(0)[0]))
        else:
            at.append(first)
    return None if start or axes or len(at) < part.ndim else other[tuple(at)]


def bound_of(pixels: ndarray) -> int:
    """Return the largest magnitude of integers, or 1 if there are none."""
    return max(1, abs(int(pixels.min())), abs(int(pixels.max()))) if pixels.size else 1


def note(table: Any, pixels: ndarray, squares: bool = False, digits: Digits | None = None, counts: Any = None) -> None:
    """Remember what the type of a table does not tell about its pixels."""
    if table.size == 0:
        forget(table)
        return
    bound = bound_of(pixels) if table.dtype.kind in "iu" and _unusual(pixels.dtype, table.dtype, squares) else 0
    if counts is not None:
        _stamp(np.asarray(table), _wholes)
    if bound or digits is not None or counts is not None:
        remember(table, Known(bound, pixels.dtype.kind == "i", digits, counts))
    else:
        forget(table)


def _unusual(pixel: np.dtype, sums: np.dtype, squares: bool) -> bool:
    """Report whether integer sums differ from what their type suggests."""
    if squares:
        return pixel.itemsize >= 4
    if sums.itemsize == 4:
        return pixel.itemsize >= 2
    return pixel.itemsize == 8 or pixel.kind == "i" and sums.kind == "u"


def widest(pixel: np.dtype, sums: np.dtype, squares: bool) -> int:
    """Return the largest magnitude of a pixel type if integer sums differ from what their type suggests.

    Otherwise return 0.
    """
    if sums.kind not in "iu" or pixel.kind not in "iu" or not _unusual(pixel, sums, squares):
        return 0
    return 1 << 8 * pixel.itemsize - 1 if pixel.kind == "i" else (1 << 8 * pixel.itemsize) - 1


def unusual_pairs() -> set[tuple[np.dtype, np.dtype]]:
    """Return the pairs of pixel and sum types of which something must be remembered."""
    return {(pixel, s) for (pixel, _), s in _types.sums.items() if pixel.kind in "iu" and s.kind in "iu" and _unusual(pixel, s, False)}


def squared(make: Callable[[ndarray, ndarray, int], Any], made: list[Any], outs: list[Any], pixels: ndarray, axes: int) -> Digits | None:
    """Compute tables of sums and squares, and return more digits where those do not suffice.

    `make` writes to two arrays, on request the tables of floats less an offset that it chooses.
    It returns the bits of that offset as a float32, which are 0 if the plain tables suffice.
    Arrays of `made` that are not in `outs` may be exchanged for others.
    """
    if pixels.dtype.kind == "f":
        bits = make(made[0], made[1], 1)
        if not bits:
            return None
        try:
            new = new_tables(*(layout_of(t.shape, t.dtype, axes, i > 0) for i, t in enumerate(made[:2])))
        except MemoryError:  # no memory for digits
            make(made[0], made[1], 0)
            return None
        for i in range(2):
            if outs[i] is None:
                made[i], new[i] = new[i], made[i]
            else:
                new[i][...] = made[i]
        make(made[0], made[1], 0)
        return Digits(new[0], new[1], struct.unpack("=f", struct.pack("=I", bits))[0])
    make(made[0], made[1], 0)
    sums, squares = made[:2]
    if squares.dtype.kind != "f" or sums.dtype.kind not in "iu" or sums.dtype.itemsize != 8 or squares.size == 0:
        return None
    total = float(squares[(-1,) * axes].max())
    if not 2.0**53 <= total < 2.0**112 / sum(squares.shape[:axes]):  # exact below this range; rounded by more than 2**61 above it
        return None
    try:
        (modulo,) = new_tables(layout_of(squares.shape, np.dtype("u8"), axes, True))
    except MemoryError:
        return None
    make(sums, modulo, 0)
    return Digits(modulo=modulo)


def for_query(table: Any, squares: Any, counts: Any, is_mean: bool, of_tables: tuple[Known, Known] | None) -> tuple[Any, Any, Any, tuple[Any, ...]]:
    """Return the tables that answer best, and what the library must know about them."""
    known, second = of_tables or (of(table), NOTHING if squares is None else of(squares))
    if counts is None:
        if known.lost or squares is not None and (second.lost or known.counts is not second.counts and not same_counts(known.counts, second.counts)):
            raise ValueError(LOST)
        counts = known.counts
    elif counts is False:
        counts = None
    digits, offset, modulo = known.digits, 0.0, None
    if digits is not None and counts is known.counts and (is_mean or _same(digits, second.digits)):
        if digits.sums is not None:
            table, squares, offset = digits.sums, None if is_mean else digits.squares, digits.offset
        elif not is_mean:
            modulo = digits.modulo
    about = (known.signed_bound, int(known.signed), offset, second.bound, modulo)
    return table, squares, counts, about if modulo is not None or any(about[:-1]) else ()


def _same(one: Digits, other: Digits | None) -> bool:
    """Report whether digits belong to the same tables, or to the same parts of them."""
    if other is None:
        return False
    return one is other or all(
        (a is None) == (b is None) and (a is None or a.__array_interface__ == b.__array_interface__)
        for a, b in ((one.sums, other.sums), (one.squares, other.squares), (one.modulo, other.modulo))
    )
