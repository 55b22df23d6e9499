"""Makes tables with NPP, PyTorch and CuPy on a CUDA device on command, and times them.

Each line on stdin is a command as JSON, and gets one line of JSON on stdout.
Pixels follow the line of a "load", and a table follows the reply to a "dump",
as raw bytes. Times are of the device: one call between two events. Only what
is measured has to be installed, NumPy not among it.
"""

import ctypes
import glob
import json
import os
import sys
import sysconfig

commands = sys.stdin.buffer
replies = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what a library prints must not pass for a reply
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no processes besides this one

BYTES = {"u8": 1, "u16": 2, "i16": 2, "i32": 4, "u32": 4, "u64": 8, "i64": 8, "f32": 4, "f64": 8}


class Missing(Exception):
    """Why a peer cannot take part."""


class Driver:
    """The few driver functions that NPP's memory and events need."""

    def __init__(self):
        try:
            self.lib = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Missing(error) from error
        self.call("cuInit", 0)
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)  # the one that libraries share
        self.call("cuCtxSetCurrent", context)
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.call("cuEventCreate", ctypes.byref(event), 0)

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            raise RuntimeError(f"{name}: CUDA error {status}")

    def attribute(self, number):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def alloc(self, size):
        pointer = ctypes.c_void_p()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def free(self, pointer):
        self.call("cuMemFree_v2", pointer)

    def upload(self, pointer, data):
        source = (ctypes.c_char * len(data)).from_buffer(data)
        self.call("cuMemcpyHtoD_v2", pointer, source, ctypes.c_size_t(len(data)))

    def download(self, pointer, size):
        data = bytearray(size)
        self.call("cuMemcpyDtoH_v2", (ctypes.c_char * size).from_buffer(data), pointer, ctypes.c_size_t(size))
        return data

    def time(self, work):
        begin, end = self.events
        self.call("cuEventRecord", begin, None)
        work()
        self.call("cuEventRecord", end, None)
        self.call("cuEventSynchronize", end)
        ms = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(ms), begin, end)
        return ms.value


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class StreamContext(ctypes.Structure):
    """NppStreamContext."""

    _fields_ = [
        ("stream", ctypes.c_void_p), ("device", ctypes.c_int), ("multiprocessors", ctypes.c_int),
        ("threads_per_multiprocessor", ctypes.c_int), ("threads_per_block", ctypes.c_int),
        ("shared_per_block", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int),
        ("stream_flags", ctypes.c_uint), ("reserved", ctypes.c_uint),
    ]


def npp_library(name):
    """Loads one of NPP's libraries from wherever CUDA lies."""
    places = [os.path.join(os.environ[v], "lib64") for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)]
    packages = sorted({p for p in [*sys.path, sysconfig.get_paths()["purelib"]] if p.endswith("-packages")})
    for pattern in (
        "/usr/local/cuda/lib64", "/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib",
        *(os.path.join(p, "nvidia", "*", "lib") for p in packages), "/usr/lib/*-linux-gnu", "/opt/cuda/lib64",
    ):
        places += sorted(glob.glob(pattern), reverse=True)
    for path in [p for place in places for p in sorted(glob.glob(f"{place}/lib{name}.so*"), reverse=True)] + [f"lib{name}.so"]:
        try:
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    raise Missing(f"lib{name}.so is not in CUDA's folders, nor among Python's packages (pip install nvidia-npp)")


class NPP:
    """nppiIntegral and nppiSqrIntegral into memory that is there already."""

    inclusive = False
    functions = {
        "u8:u32": ("nppiIntegral_8u32s_C1R_Ctx", [4], [ctypes.c_int(0)]),  # signed, and wraps to the same bits
        "u8:f32": ("nppiIntegral_8u32f_C1R_Ctx", [4], [ctypes.c_float(0)]),
        "u8:u32+u64": ("nppiSqrIntegral_8u32s64f_C1R_Ctx", [4, 8], [ctypes.c_int(0), ctypes.c_double(0)]),
    }

    def __init__(self):
        self.driver = driver = Driver()
        core = npp_library("nppc")
        self.lib = npp_library("nppist")
        core.nppGetLibVersion.restype = ctypes.POINTER(ctypes.c_int * 3)
        self.version = ".".join(map(str, core.nppGetLibVersion().contents))
        self.context = StreamContext(
            None, 0, driver.attribute(16), driver.attribute(39), driver.attribute(1), driver.attribute(8),
            driver.attribute(75), driver.attribute(76), 0, 0)
        self.memory = []

    def load(self, types, shape, pixels):
        height, width, channels = shape
        if types not in self.functions or channels != 1:
            return False
        name, sums, zeros = self.functions[types]
        function, driver = getattr(self.lib, name), self.driver
        image = driver.alloc(len(pixels))
        self.memory.append((image, len(pixels)))
        driver.upload(image, pixels)
        args = [image, ctypes.c_int(width)]
        for size in sums:
            total = (width + 1) * (height + 1) * size
            self.memory.append((driver.alloc(total), total))
            args += [self.memory[-1][0], ctypes.c_int((width + 1) * size)]
        args += [Size(width, height), *zeros, self.context]

        def queue():
            status = function(*args)
            if status:
                raise RuntimeError(f"{name}: NPP status {status}")

        self.queue = queue
        return True

    def time(self):
        return self.driver.time(self.queue)

    def dump(self):
        return [self.driver.download(*table) for table in self.memory[1:]]

    def drop(self):
        while self.memory:
            self.driver.free(self.memory.pop()[0])


class Torch:
    """torch.cumsum along rows, then along columns: an inclusive table, in memory of PyTorch's own cache."""

    inclusive = True

    def __init__(self):
        try:
            import torch
        except ImportError as error:
            raise Missing(error) from error
        if not torch.cuda.is_available():
            raise Missing("it sees no CUDA device")
        self.torch, self.version = torch, torch.__version__
        # Signed integers of the same width wrap to the same bits.
        self.pixels = {"u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "f32": torch.float32, "f64": torch.float64}
        self.sums = {"u32": torch.int32, "u64": torch.int64, "i64": torch.int64, "f32": torch.float32, "f64": torch.float64}
        self.begin, self.end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def work(self, types):
        """Is the function from an image to its tables."""
        pixel, sums = types.split(":")
        dtype = self.sums[sums.split("+")[0]]
        if "+" not in sums:
            return lambda image: [image.cumsum(1, dtype=dtype).cumsum(0, dtype=dtype)]
        double = self.torch.float64

        def both(image):
            wide = image.to(double)
            return [image.cumsum(1, dtype=dtype).cumsum(0, dtype=dtype), (wide * wide).cumsum(1).cumsum(0)]

        return both

    def load(self, types, shape, pixels):
        torch, pixel = self.torch, types.split(":")[0]
        if types == "u32:u32":
            types, pixel = "i32:u32", "i32"
        if pixel not in self.pixels:
            return False
        self.image = torch.frombuffer(pixels, dtype=self.pixels[pixel]).reshape(shape if shape[2] > 1 else shape[:2]).cuda()
        self.integrate = self.prepare(self.work(types))
        return True

    def prepare(self, work):
        return work

    def queue(self):
        self.tables = None
        self.tables = self.integrate(self.image)

    def time(self):
        self.begin.record()
        self.queue()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end)

    def dump(self):
        dumps = []
        for table in self.tables:
            host = table.contiguous().cpu()
            dumps.append(ctypes.string_at(host.data_ptr(), host.numel() * host.element_size()))
        return dumps

    def drop(self):
        self.image = self.tables = self.integrate = None
        self.torch.cuda.empty_cache()


class TorchCompile(Torch):
    """The same through torch.compile."""

    def prepare(self, work):
        import torch._dynamo

        torch._dynamo.reset()
        compiled = self.torch.compile(work, dynamic=False)
        compiled(self.image)  # which is when it compiles, and may fail
        return compiled


class CuPy:
    """cupy.cumsum along rows, then along columns: an inclusive table."""

    inclusive = True

    def __init__(self):
        try:
            import cupy
        except ImportError as error:
            raise Missing(error) from error
        if not cupy.is_available():
            raise Missing("it sees no CUDA device")
        self.cupy, self.version = cupy, cupy.__version__
        self.begin, self.end = cupy.cuda.Event(), cupy.cuda.Event()

    def load(self, types, shape, pixels):
        if "+" in types:
            return False
        import numpy

        dtype = {name: numpy.dtype(f"{name[0]}{size}") for name, size in BYTES.items()}
        pixel, sums = types.split(":")
        self.image = self.cupy.asarray(numpy.frombuffer(pixels, dtype[pixel]).reshape(shape if shape[2] > 1 else shape[:2]))
        self.dtype = dtype[sums]
        return True

    def queue(self):
        cupy, self.table = self.cupy, None
        self.table = cupy.cumsum(cupy.cumsum(self.image, axis=1, dtype=self.dtype), axis=0, dtype=self.dtype)

    def time(self):
        self.begin.record()
        self.queue()
        self.end.record()
        self.end.synchronize()
        return self.cupy.cuda.get_elapsed_time(self.begin, self.end)

    def dump(self):
        return [self.table.get().tobytes()]

    def drop(self):
        self.image = self.table = None
        self.cupy.get_default_memory_pool().free_all_blocks()


PEERS, MISSING = {}, []
for name, peer in ("npp", NPP), ("torch", Torch), ("torch.compile", TorchCompile), ("cupy", CuPy):
    try:
        PEERS[name] = peer()
    except Exception as error:  # a broken installation is not ours to end on
        MISSING.append(f"{name}: {error}")


def hello(_):
    """Says who is there, and who is not and why."""
    peers = {name: {"version": p.version, "inclusive": p.inclusive} for name, p in PEERS.items()}
    return {"peers": peers, "missing": MISSING}


def load(command):
    """Reads pixels. Is who can make a table of them, and why others could not."""
    for peer in PEERS.values():  # the last image goes before the next one comes
        peer.drop()
    types, shape = command["types"], command["shape"]
    height, width, channels = shape
    pixels = bytearray(height * width * channels * BYTES[types.split(":")[0]])
    rest = memoryview(pixels)
    while rest:
        count = commands.readinto(rest)
        if not count:
            raise EOFError("stdin ended within the pixels")
        rest = rest[count:]
    able, missing = [], []
    for name in command["peers"]:
        if name not in PEERS:
            continue
        try:
            if PEERS[name].load(types, shape, pixels):
                able.append(name)
        except Exception as error:
            PEERS[name].drop()
            missing.append(f"{name}: {(str(error).strip() or repr(error)).splitlines()[0]}")
    return {"able": able, "missing": missing}


def run(command):
    """Makes the tables a number of times to warm up, and without a wait once more for its time."""
    peer = PEERS[command["peer"]]
    for _ in range(command["warm"]):
        peer.queue()
    return {"ns": round(peer.time() * 1e6)}


def dump(command):
    """Sends the tables that the last run made."""
    tables = PEERS[command["peer"]].dump()
    return {"bytes": sum(map(len, tables))}, tables


DO = {"hello": hello, "load": load, "run": run, "dump": dump}

for line in commands:
    command = json.loads(line)
    reply, tables = DO[command["do"]](command), []
    if isinstance(reply, tuple):
        reply, tables = reply
    replies.write(json.dumps(reply).encode() + b"\n")
    for table in tables:
        replies.write(table)
    replies.flush()
    reply = tables = None
