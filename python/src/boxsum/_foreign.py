"""Adapters for arrays of other libraries: tensors, and arrays on a CUDA device."""

from __future__ import annotations

import sys
from typing import Any, Callable

import numpy as np

from . import _core, _cuda, _dlpack, _host, _known, _native
from ._arguments import UPRIGHT, VOLUME, arrays_out, as_boxes, as_pixels
from ._core import exchange, queue
from ._cuda import Cuda, answers, check_boxes, spread
from ._native import LayoutError, call


def find(array: Any) -> Any:
    """Return the adapter for an array's library, or None for NumPy arrays and lists."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch" and isinstance(array, sys.modules["torch"].Tensor):
        _quick[sys.modules["torch"].Tensor] = _torch_cuda.again
        return _torch_cuda if array.is_cuda else _torch_host
    if library == "cupy" and isinstance(array, sys.modules["cupy"].ndarray):
        _quick[sys.modules["cupy"].ndarray] = _cupy.again
        return _cupy
    if hasattr(array, "__cuda_array_interface__"):
        return _interface
    if hasattr(array, "__dlpack_device__") and not isinstance(array, (np.ndarray, np.generic)):
        kind = int(array.__dlpack_device__()[0])
        if kind in _dlpack.CUDA:
            return _exchange
        if kind == _dlpack.CPU:
            return _host_exchange
        raise TypeError(f"array must be in host or CUDA memory, got DLPack device type {kind}")
    return None


_exchanged: bool | None = None  # whether tensors expose their memory to C code


def _exchanges() -> bool:
    global _exchanged
    if _exchanged is None:
        _exchanged = exchange(sys.modules["torch"].Tensor)
    return _exchanged


def describe(number: int, *tensors: Any) -> Any:
    """Return a key that similar tensors share, or None.

    It depends on sizes, strides, types and devices.
    """
    if _exchanged or _exchanges():
        return _core.describe(number, *tensors)
    torch = sys.modules["torch"]
    if any(type(t) is not torch.Tensor or not t.is_cuda for t in tensors):
        return None
    return (number, *((t.dtype, t.shape, t.stride(), t.get_device()) for t in tensors))


def launch(plan: int, recipe: bytes | None, image: Any, out: Any) -> None:
    """Queue work on tensors by a plan, on the current stream of their device."""
    if _exchanged:
        _core.launch(plan, recipe, image, out)
    else:
        queue(plan, image.data_ptr(), out.data_ptr(), _torch_cuda.stream(image))


def repeat(ready: dict[Any, Any], number: int, image: Any) -> Any:
    """Repeat work done before for similar tensors; return the result, or None if there was none.

    `ready` holds the plan, the recipe, and a function that allocates the result.
    """
    if _exchanged:
        return _core.repeat(ready, number, image)
    found = ready.get(describe(number, image))
    if found is None:
        return None
    plan, recipe, make = found
    out = make()
    launch(plan, recipe, image, out)
    return out


def again(image: Any, out: Any) -> bool:
    """Queue a table on a device by the plan of a similar call; report whether there is one."""
    known = _quick.get(type(image))
    if known is None:
        return False
    try:
        return known(image, out)
    except LayoutError:  # the plan was dropped
        return False


def on_host(array: Any) -> np.ndarray:
    """Return an array for functions that work in host memory only."""
    if type(array) is np.ndarray:
        return array
    kind = None if isinstance(array, np.ndarray) else find(array)
    if kind is _torch_host:
        return array.detach().numpy()
    if kind is _host_exchange:
        return np.from_dlpack(array)
    if kind is not None:
        raise TypeError(f"array must be in host memory, got {type(array).__name__} (copy it first)")
    return as_pixels(array)


def as_given(result: np.ndarray, out: Any, given: Any) -> Any:
    """Return a result in the caller's kind of array: `out` itself, or a tensor for a tensor."""
    if out is not None:
        return out
    if type(given) is not np.ndarray and find(given) is _torch_host:
        return sys.modules["torch"].from_numpy(result)
    return result


class _Cupy(Cuda):
    def key(self, image: Any, out: Any) -> tuple[Any, ...] | None:
        return image.dtype, image.shape, image.strides, out.dtype, out.shape, out.strides, image.data.device_id, out.data.device_id

    def again(self, image: Any, out: Any) -> bool:
        if type(out) is not type(image):
            return False
        one, other = image.data, out.data
        plan = self._plans.get((image.dtype, image.shape, image.strides, out.dtype, out.shape, out.strides, one.device_id, other.device_id))
        if plan is None or _cuda._planned is not _native.loaded:
            return False
        queue(plan, one.ptr, other.ptr, self.stream(image))
        return True

    def parts(self, array: Any) -> tuple[Any, ...]:
        return array.data.ptr, array.shape, array.strides, array.dtype

    def index(self, array: Any) -> int:
        return array.device.id

    def stream(self, array: Any) -> int:
        cupy = sys.modules["cupy"]
        if cupy.cuda.runtime.getDevice() == array.device.id:
            return cupy.cuda.get_current_stream().ptr
        with array.device:
            return cupy.cuda.get_current_stream().ptr

    def new(self, shape: tuple[Any, ...], dtype: np.dtype, like: Any, axes: int) -> Any:
        cupy = sys.modules["cupy"]
        lead, size, strides = self.layout(shape, dtype, axes)
        if cupy.cuda.runtime.getDevice() == like.device.id:
            memory = cupy.cuda.alloc(size)
        else:
            with like.device:
                memory = cupy.cuda.alloc(size)
        return cupy.ndarray(shape, dtype, memptr=memory + lead, strides=strides)

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return array.view(dtype) if array.dtype.kind == "b" else array.astype(dtype)

    def contiguous(self, array: Any) -> Any:
        return sys.modules["cupy"].ascontiguousarray(array)

    def boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any) -> Any:
        cupy = sys.modules["cupy"]
        if not isinstance(boxes, cupy.ndarray):
            boxes = cupy.asarray(as_boxes(boxes, 4, 6))
        check_boxes(table, boxes, out)
        return answers(cupy, table, squares, boxes.astype(cupy.int64), what, lambda a: a.astype(cupy.float64), lambda a: a.astype(cupy.int64))

    def sample(self, image: Any, axes: int) -> np.ndarray | None:
        cupy = sys.modules["cupy"]
        with image.device:
            if cupy.cuda.get_current_stream().is_capturing():
                return None
            for axis in range(image.ndim):
                image = image.take(cupy.asarray(spread(image.shape[axis])), axis)
            return cupy.asnumpy(image)

    def copy(self, array: Any) -> Any:
        return array.copy()

    def stack(self, arrays: list[Any]) -> Any:
        return sys.modules["cupy"].stack(arrays)


class _TorchCuda(Cuda):
    signed = True

    def __init__(self, find: Callable[[Any], Any]) -> None:
        super().__init__(find)
        self._types: dict[Any, Any] = {}
        self.ready: dict[Any, tuple[Any, ...]] = {}  # work that boxsum.torch can repeat

    def forget(self) -> None:
        self.ready.clear()

    def key(self, image: Any, out: Any) -> Any:
        return describe(-1, image, out)

    def again(self, image: Any, out: Any) -> bool:
        plan = self._plans.get(describe(-1, image, out))
        if plan is None or _cuda._planned is not _native.loaded:
            return False
        launch(plan, None, image, out)
        return True

    def read(self, array: Any) -> Any:
        return array.detach() if array.requires_grad else array

    def parts(self, array: Any) -> tuple[Any, ...]:
        item = array.element_size()
        return array.data_ptr(), tuple(array.shape), tuple(s * item for s in array.stride()), self.numpy_type(array.dtype)

    def numpy_type(self, dtype: Any) -> np.dtype:
        known = self._types.get(dtype)
        if known is not None:
            return known
        name = str(dtype).partition(".")[2] if isinstance(dtype, sys.modules["torch"].dtype) else dtype
        try:
            self._types[dtype] = np.dtype(name)
        except TypeError:
            raise TypeError(f"pixels must be integers or floats of up to 64 bits, got {dtype} (convert them first)") from None
        return self._types[dtype]

    def index(self, array: Any) -> int:
        return array.device.index

    def stream(self, array: Any) -> int:
        torch = sys.modules["torch"]
        quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # the same in a tenth of the time
        return quick(array.device.index) if quick else torch.cuda.current_stream(array.device).cuda_stream

    def new(self, shape: tuple[Any, ...], dtype: np.dtype, like: Any, axes: int) -> Any:
        torch = sys.modules["torch"]
        item = dtype.itemsize
        lead, size, strides = self.layout(shape, dtype, axes)
        memory = torch.empty(-(-size // item), dtype=getattr(torch, dtype.name), device=like.device)
        return memory.as_strided(shape, tuple(s // item for s in strides), lead // item)

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return array.to(getattr(sys.modules["torch"], dtype.name))

    def contiguous(self, array: Any) -> Any:
        return array.contiguous()

    def boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any) -> Any:
        torch = sys.modules["torch"]
        if not isinstance(boxes, torch.Tensor):
            boxes = torch.from_numpy(as_boxes(boxes, 4, 6))
        check_boxes(table, boxes, out)
        boxes = boxes.to(table.device, torch.int64)
        return answers(torch, table, squares, boxes, what, lambda a: a.to(torch.float64), lambda a: a.to(torch.int64))

    def sample(self, image: Any, axes: int) -> np.ndarray | None:
        torch = sys.modules["torch"]
        with torch.cuda.device(image.device):
            if torch.cuda.is_current_stream_capturing():
                return None
        for axis in range(image.ndim):
            image = image.index_select(axis, torch.tensor(spread(image.shape[axis]), device=image.device))
        return image.cpu().numpy()

    def copy(self, array: Any) -> Any:
        return array.clone()

    def turned(self, array: Any, axes: tuple[Any, ...]) -> Any:
        return array.permute(axes)

    def stack(self, arrays: list[Any]) -> Any:
        return sys.modules["torch"].stack(arrays)


class _TorchHost:
    """Adapter for tensors in host memory, which NumPy arrays share."""

    def integral(self, image: Any, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any) -> Any:
        return self.tables(image, UPRIGHT, dtype, squares, tilted, out, workers, device)

    def volume(self, volume: Any, dtype: Any, squares: bool, out: Any, workers: Any) -> Any:
        return self.tables(volume, VOLUME, dtype, squares, False, out, workers, None)

    def batches(self, image: Any, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any, axes: Any) -> Any:
        return self.tables(image, kind, dtype, squares, tilted, out, workers, device, axes)

    def tables(self, image: Any, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any, axes: Any = None) -> Any:
        torch = sys.modules["torch"]
        if image.layout != torch.strided or image.device.type != "cpu":
            raise TypeError(f"tensor must be dense and in host or CUDA memory, got layout {image.layout} on {image.device}")
        array = image.detach().numpy()
        outs = arrays_out(out, 1 + bool(squares) + bool(tilted), torch.Tensor)
        outs = [None if o is None else o.detach().numpy() for o in outs]
        wanted = None if dtype is None else _torch_cuda.numpy_type(dtype)
        arguments = (array, kind, wanted, squares, tilted, None if out is None else tuple(outs), workers, device)
        tables = _host.tables(*arguments, signed=True) if axes is None else _host.batches(*arguments, axes, signed=True)
        tables = tables if isinstance(tables, tuple) else (tables,)
        known = [_known.of(t) for t in tables]
        if out is not None:
            for tensor, about in zip(arrays_out(out, len(tables), torch.Tensor), known):
                if tensor is not None:
                    _known.remember(tensor, about)
            return out
        if wanted is None:  # PyTorch supports few operations on unsigned integers
            tables = tuple(t.view(f"i{t.itemsize}") if t.dtype.kind == "u" else t for t in tables)
        tensors = tuple(torch.from_numpy(t) for t in tables)
        for tensor, about in zip(tensors, known):
            if about is not _known.NOTHING:
                _known.remember(tensor, about)
        return tensors[0] if len(tensors) == 1 else tensors

    def boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any) -> Any:
        torch = sys.modules["torch"]
        known = _known.of(table), _known.of(squares)
        answers = _host.ask(table.detach().numpy(), None if squares is None else squares.detach().numpy(), boxes, what, out, None, known=known)
        return torch.from_numpy(np.asarray(answers))

    def batch_boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any, axes: Any) -> Any:
        torch = sys.modules["torch"]
        known = _known.of(table), _known.of(squares)
        answers = _host.ask(table.detach().numpy(), None if squares is None else squares.detach().numpy(), boxes, what, out, None, known=known, axes=axes)
        return torch.from_numpy(np.ascontiguousarray(answers))


class _HostExchange:
    """Adapter for arrays in host memory that are exchanged by DLPack."""

    def integral(self, image: Any, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any) -> Any:
        return _host.tables(np.from_dlpack(image), UPRIGHT, dtype, squares, tilted, out, workers, device)

    def volume(self, volume: Any, dtype: Any, squares: bool, out: Any, workers: Any) -> Any:
        return _host.tables(np.from_dlpack(volume), VOLUME, dtype, squares, False, out, workers, None)

    def batches(self, image: Any, kind: int, dtype: Any, squares: bool, tilted: bool, out: Any, workers: Any, device: Any, axes: Any) -> Any:
        return _host.batches(np.from_dlpack(image), kind, dtype, squares, tilted, out, workers, device, axes)

    def boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any) -> Any:
        return _host.ask(np.from_dlpack(table), None if squares is None else np.from_dlpack(squares), boxes, what, out, None)

    def batch_boxes(self, table: Any, squares: Any, boxes: Any, what: int, out: Any, axes: Any) -> Any:
        return _host.ask(np.from_dlpack(table), None if squares is None else np.from_dlpack(squares), boxes, what, out, None, axes=axes)


class _Interface(Cuda):
    """Adapter for arrays of any library with ``__cuda_array_interface__``."""

    def read(self, array: Any) -> Any:
        return array if isinstance(array, _dlpack.View) else _dlpack.from_interface(array)

    def parts(self, array: Any) -> tuple[Any, ...]:
        return array.pointer, array.shape, array.strides, array.dtype

    def index(self, array: Any) -> int:
        if array.index is None:
            array.index = call("device_of", array.pointer)
        return array.index

    def stream(self, array: Any) -> int:
        return array.stream

    def new(self, shape: tuple[Any, ...], dtype: np.dtype, like: Any, axes: int) -> Any:
        lead, size, strides = self.layout(shape, dtype, axes)
        index = self.index(like)
        memory = _dlpack.Memory(self.number(index), size)
        return _dlpack.View(memory.pointer + lead, shape, strides, dtype, like.stream, index, memory)

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        if array.dtype.kind == "b" and dtype == np.uint8:
            return _dlpack.View(array.pointer, array.shape, array.strides, dtype, array.stream, array.index, array.owner)
        raise TypeError(f"pixels must be {dtype}, got {array.dtype} (convert them first)")

    def turned(self, array: Any, axes: tuple[Any, ...]) -> Any:
        shape, strides = (tuple(of[a] for a in axes) for of in (array.shape, array.strides))
        return _dlpack.View(array.pointer, shape, strides, array.dtype, array.stream, array.index, array.owner)

    def split(self, array: Any, shape: tuple[Any, ...]) -> Any:
        strides = list(array.strides[1:])
        step = array.strides[0]
        for n in reversed(shape[: len(shape) - len(strides)]):
            strides.insert(0, step)
            step *= n
        return _dlpack.View(array.pointer, shape, tuple(strides), array.dtype, array.stream, array.index, array.owner)

    def contiguous(self, array: Any) -> Any:
        raise ValueError(f"array must have contiguous rows in order, got shape {array.shape} with strides {array.strides} (make it contiguous first)")

    def hand_out(self, table: Any) -> Any:
        return _dlpack.DeviceArray(table, self.number(self.index(table))) if isinstance(table, _dlpack.View) else table


class _Exchange(_Interface):
    """Adapter for arrays of any library with ``__dlpack__``."""

    def read(self, array: Any) -> Any:
        return array if isinstance(array, _dlpack.View) else _dlpack.from_capsule(array)


_quick: dict[type, Callable[[Any, Any], bool]] = {}  # of the libraries seen so far
_cupy = _Cupy(find)
_torch_cuda = _TorchCuda(find)
_torch_host = _TorchHost()
_host_exchange = _HostExchange()
_interface = _Interface(find)
_exchange = _Exchange(find)
