"""Arrays of a device without one: the host stands in for it.

What these say of memory, shapes and lifetimes goes through as it would with a
device; only the work itself is the processor's.
"""

import ctypes
import gc
import struct

import numpy as np
import pytest

import boxsum
from boxsum import _cuda, _dlpack, _foreign, _native


class Interface:
    """An array of a library that nobody knows, by the dictionary."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = dict(array.__array_interface__, version=3, **more)


class Exchange:
    """The same, by DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, *, stream=None):
        assert stream == 1
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return 2, 0


class Tensor(Exchange):
    """An array of the host, by DLPack."""

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return 1, 0


def flat(packed):
    """The array that a flatArray describes."""
    kind, item, axes, pointer, *numbers = struct.unpack("=12q", packed)
    described = {"shape": tuple(numbers[:axes]), "strides": tuple(numbers[4 : 4 + axes]), "typestr": f"{chr(kind)}{item}", "data": (pointer, False), "version": 3}
    return np.asarray(type("Flat", (), {"__array_interface__": described})())


@pytest.fixture
def device(monkeypatch):
    """A device whose memory is the host's; says what was queued and taken."""
    memory, queued = {}, []
    call = _native.call

    def stand_in(name, *arguments):
        if name == "on_device":
            packed, kind, number, stream = arguments
            queued.append((number, stream))
            arrays = [flat(packed[i : i + 96]) for i in range(0, len(packed), 96)]
            call("integral", *arrays, *[None] * (3 - len(arrays)), kind, 1, -1)
        elif name == "device":
            assert arguments[0] == b"cuda:0"
        elif name == "device_of":
            return 0
        elif name == "take":
            number, size = arguments
            block = np.full(size + 256, 0xEE, np.uint8)
            start = block.ctypes.data + -block.ctypes.data % 256
            memory[start] = block
            return start
        elif name == "give":
            del memory[arguments[1]]
        elif name != "wait":
            raise AssertionError(name)

    _native.load()
    for user in (_cuda, _dlpack, _foreign):
        monkeypatch.setattr(user, "call", stand_in)
    monkeypatch.setattr(_cuda, "device_number", lambda name: 5)
    return memory, queued


def test_memory_comes_from_the_library():
    """Functions for device memory are not those that lend memory of the host."""
    with pytest.raises(RuntimeError, match="no device has handle 99"):
        _dlpack.Memory(99, 16)
    with pytest.raises(RuntimeError, match="no device has handle 99"):
        _native.call("give", 99, 0)


def shown(table):
    """A device array as NumPy sees it."""
    holder = type("Holder", (), {"__array_interface__": table.__cuda_array_interface__})()
    holder.table = table
    return np.asarray(holder)


@pytest.mark.parametrize("wrap", [Interface, Exchange])
@pytest.mark.parametrize("shape", [(5, 7), (40, 33, 3), (1, 1), (0, 4)])
def test_in_and_out(device, wrap, shape):
    memory, queued = device
    image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    tables = boxsum.integral(wrap(image), squares=True, tilted=True)
    for got, want in zip(tables, boxsum.integral(image, squares=True, tilted=True)):
        assert isinstance(got, boxsum.DeviceArray)
        np.testing.assert_array_equal(shown(got), want)
        entry = got.__cuda_array_interface__["data"][0] + got.strides[1]
        assert entry % 256 == 0 and got.strides[0] % 256 == 0
        np.testing.assert_array_equal(_as_host(got), want)
    assert set(queued) == {(5, 1)}
    del tables, got
    gc.collect()
    assert not memory


def test_tables_may_not_overlap(device):
    image, out = np.ones((4, 4), np.uint8), np.empty((5, 5), np.uint32)
    with pytest.raises(ValueError, match="share memory"):
        boxsum.integral(Interface(image), tilted=True, out=(Interface(out), Interface(out)))
    planes = np.ones((4, 5, 5))
    for image, out in ((planes[:3, :4, :4], planes[1:]), (planes[:, :4, :4], planes[::-1])):
        with pytest.raises(ValueError, match="out must not share memory with the input"):
            boxsum.integral(Interface(image), axes=(-2, -1), out=Interface(out))
    assert not device[1] and (planes == 1).all()
    boxsum.integral(Interface(planes[:1, :4, :4]), axes=(-2, -1), out=Interface(planes[2:3]))
    assert planes[2, -1, -1] == 16


address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class _as_host_exporter:
    """Shows the capsule of a device array as one of the host."""

    def __init__(self, table):
        self.table = table

    def __dlpack__(self, **_):
        capsule = self.table.__dlpack__()
        managed = address(capsule, b"dltensor")
        ctypes.c_int32.from_address(managed + ctypes.sizeof(ctypes.c_void_p)).value = 1  # the type of the device
        return capsule

    def __dlpack_device__(self):
        return 1, 0


def _as_host(table):
    return np.from_dlpack(_as_host_exporter(table))


@pytest.mark.parametrize("shape", [(4, 5, 7), (3, 40, 33, 3), (1, 1, 1), (0, 4, 4)])
def test_volumes(device, shape):
    voxels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    for got, want in zip(boxsum.volume(Interface(voxels), squares=True), boxsum.volume(voxels, squares=True)):
        np.testing.assert_array_equal(shown(got), want)


def test_boxes_are_checked_by_what_need_not_be_read():
    plane, solid = np.zeros((4, 5)), boxsum.volume(np.zeros((3, 4, 5)))
    four, six = np.zeros((7, 4)), np.zeros((7, 6), int)
    _cuda.check_boxes(plane, four, None)
    _cuda.check_boxes(np.array(solid), four, None)
    _cuda.check_boxes(solid, six, None)
    for table, boxes, words in [
        (plane, six, "want four"),
        (solid, four, "want six"),
        (plane[None, None], four, "want six"),
        (plane[0], four, "is not a table"),
        (plane, four[:, :3], "4 or 6"),
        (plane, four + 0.5, "must be integers"),
        (plane, four.astype("f4") + np.nan, "must be integers"),
        (plane, four + np.inf, "must be integers"),
    ]:
        with pytest.raises(ValueError, match=words), np.errstate(invalid="ignore"):
            _cuda.check_boxes(table, boxes, None)


def test_boxes_by_the_arithmetic_of_a_library():
    """NumPy stands in for the library."""
    rng = np.random.default_rng(0)
    for shape, make, numbers in [((9, 12), boxsum.integral, 4), ((9, 12, 3), boxsum.integral, 4), ((5, 6, 7), boxsum.volume, 6), ((5, 6, 7, 2), boxsum.volume, 6)]:
        tables = make(rng.integers(0, 256, shape, dtype=np.uint8), squares=True)
        boxes = rng.integers(-4, 16, (60, numbers))
        for what, ask in enumerate([lambda: boxsum.box_sum(tables[0], boxes), lambda: boxsum.box_mean(tables[0], boxes), lambda: boxsum.box_var(*tables, boxes), lambda: boxsum.box_std(*tables, boxes)]):
            np.testing.assert_allclose(_cuda.answers(np, *tables, boxes, what, lambda a: a.astype(float), lambda a: a.astype(np.int64)), ask(), rtol=1e-9, atol=1e-6)


def test_the_stream_of_the_producer(device):
    boxsum.integral(Interface(np.ones((3, 3), np.uint8), stream=2))
    boxsum.integral(Interface(np.ones((3, 3), np.uint8), stream=None))
    assert device[1] == [(5, 2), (5, 1)]


def test_out(device):
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    table = np.zeros((6, 9), np.uint32)
    out = Interface(table[1:5, 2:7])
    assert boxsum.integral(Interface(image), out=out) is out
    np.testing.assert_array_equal(table[1:5, 2:7], boxsum.integral(image))
    table[1:5, 2:7] = 0
    assert not table.any()
    with pytest.raises(TypeError):
        boxsum.integral(Interface(image), out=table)
    with pytest.raises(ValueError):
        boxsum.integral(Interface(image), out=Interface(table))


def test_what_cannot_be(device):
    image = np.ones((4, 6), np.uint8)
    for bad, error in [
        (Interface(image.astype(complex)), TypeError),
        (Interface(image[0]), ValueError),
        (Interface(image[::-1]), ValueError),
        (Interface(image[:, ::2]), ValueError),
        (Interface(image, mask=image), TypeError),
    ]:
        with pytest.raises(error):
            boxsum.integral(bad)
    with pytest.raises(ValueError):
        boxsum.integral(Interface(image), device="opencl")
    with pytest.raises(TypeError):
        boxsum.box_sum(boxsum.integral(Interface(image)), [[0, 0, 1, 1]])
    for function in (boxsum.moments, boxsum.histogram, boxsum.haar):
        with pytest.raises(TypeError, match="host"):
            function(Interface(image))


def test_tensors_of_the_host():
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    table = boxsum.integral(Tensor(image))
    np.testing.assert_array_equal(table, boxsum.integral(image))
    assert boxsum.box_sum(Tensor(table), [0, 0, 4, 3]) == 66
    assert boxsum.moments(Tensor(image)).shape == (3, 4)
