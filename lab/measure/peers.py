"""Makes tables with OpenCV, scikit-image and NumPy on command, and times them.

Each line on stdin is a command as JSON, and gets one line of JSON on stdout.
Pixels follow the line of a "load", and a table follows the reply to a "dump",
as raw bytes, so that nothing is left on a disk.
"""

import json
import os
import sys
import time

import numpy as np

commands = sys.stdin.buffer
replies = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what a library prints must not pass for a reply

TYPES = {
    "u8": np.uint8, "u16": np.uint16, "i16": np.int16, "i32": np.int32,
    "u32": np.uint32, "u64": np.uint64, "i64": np.int64,
    "f32": np.float32, "f64": np.float64,
}


class OpenCV:
    """cv2.integral into arrays that are there already, with OpenCV's default threads."""

    inclusive = False

    def __init__(self):
        import cv2

        self.cv2 = cv2
        self.tables = None
        self.version = cv2.__version__
        self.workers = cv2.getNumThreads()
        # Its 32-bit sums are signed, and wrap to the same bits as unsigned ones.
        self.depths = {
            "u8:u32": (cv2.CV_32S, np.int32), "u8:f32": (cv2.CV_32F, np.float32),
            "u8:f64": (cv2.CV_64F, np.float64), "u16:f64": (cv2.CV_64F, np.float64),
            "f32:f32": (cv2.CV_32F, np.float32), "f32:f64": (cv2.CV_64F, np.float64),
            "f64:f64": (cv2.CV_64F, np.float64), "u8:u32+u64": (cv2.CV_32S, np.int32),
        }

    def load(self, types, image):
        """Is whether OpenCV can make these tables."""
        if types not in self.depths:
            return False
        self.image = image
        self.depth, dtype = self.depths[types]
        shape = (image.shape[0] + 1, image.shape[1] + 1) + image.shape[2:]
        self.tables = [np.empty(shape, dtype)]
        if "+" in types:
            self.tables.append(np.empty(shape, np.float64))
        return True

    def run(self):
        cv2, image, depth = self.cv2, self.image, self.depth
        if len(self.tables) == 1:
            [table] = self.tables
            start = time.perf_counter_ns()
            made = [cv2.integral(image, table, depth)]
            end = time.perf_counter_ns()
        else:
            table, squares = self.tables
            start = time.perf_counter_ns()
            made = cv2.integral2(image, table, squares, depth, cv2.CV_64F)
            end = time.perf_counter_ns()
        if not all(map(np.shares_memory, made, self.tables)):
            raise RuntimeError("cv2.integral did not use the array that it was given")
        return end - start

    def dump(self):
        return self.tables

    def drop(self):
        self.image = self.tables = None


class Integral3(OpenCV):
    """cv2.integral3, for its tilted table."""

    def load(self, types, image):
        base = types.removesuffix("-tilted")
        if base == types or not super().load(base, image):
            return False
        [table] = self.tables
        self.tables = [table, np.empty(table.shape, np.float64), np.empty_like(table)]
        return True

    def run(self):
        cv2, (table, squares, tilted) = self.cv2, self.tables
        start = time.perf_counter_ns()
        made = cv2.integral3(self.image, table, squares, tilted, self.depth, cv2.CV_64F)
        end = time.perf_counter_ns()
        if not all(map(np.shares_memory, made, self.tables)):
            raise RuntimeError("cv2.integral3 did not use the arrays that it was given")
        return end - start

    def dump(self):
        return self.tables[2:]


class Integral2(OpenCV):
    """The same without the tilted table, in the same arrays."""

    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def load(self, types, image):
        if not self.whole.tables:
            return False
        self.image, self.depth, self.tables = image, self.whole.depth, self.whole.tables[:2]
        return True


class ScikitImage:
    """skimage.transform.integral_image, in the sums' type."""

    workers = 1
    inclusive = True

    def __init__(self):
        import skimage
        from skimage.transform import integral_image

        self.integral_image = integral_image
        self.version = skimage.__version__

    def load(self, types, image):
        """Is whether scikit-image can: it would sum over channels, and has no squares."""
        if image.ndim != 2 or "+" in types:
            return False
        self.image = image
        self.dtype = TYPES[types.split(":")[1]]
        return True

    def run(self):
        self.table = None
        start = time.perf_counter_ns()
        self.table = self.integral_image(self.image, dtype=self.dtype)
        return time.perf_counter_ns() - start

    def dump(self):
        table, self.table = self.table, None
        return [table]

    def drop(self):
        self.image = self.table = None


class NumPy:
    """A cumsum along each axis of a volume, into an array that is there already."""

    version = np.__version__
    workers = 1
    inclusive = True

    def load(self, types, image):
        base = types.removesuffix("-volume")
        if base == types:
            return False
        self.image = image
        self.table = np.empty(image.shape, TYPES[base.split(":")[1]])
        return True

    def run(self):
        image, table = self.image, self.table
        start = time.perf_counter_ns()
        np.cumsum(image, axis=0, dtype=table.dtype, out=table)
        np.cumsum(table, axis=1, out=table)
        np.cumsum(table, axis=2, out=table)
        return time.perf_counter_ns() - start

    def dump(self):
        return [self.table]

    def drop(self):
        self.image = self.table = None


PEERS, MISSING = {}, []
for name, peer in ("opencv", OpenCV), ("scikit-image", ScikitImage), ("numpy", NumPy):
    try:
        PEERS[name] = peer()
    except ImportError as error:
        MISSING.append(f"{name}: {error}")
if "opencv" in PEERS:
    PEERS["cv2.integral3"] = Integral3()
    PEERS["cv2.integral2"] = Integral2(PEERS["cv2.integral3"])


def hello(_):
    """Says who is there, and who is not and why."""
    peers = {n: {"version": p.version, "workers": p.workers, "inclusive": p.inclusive} for n, p in PEERS.items()}
    return {"peers": peers, "missing": MISSING}


def load(command):
    """Reads pixels into an array of NumPy's own making. Is who can make a table of them."""
    for peer in PEERS.values():  # the last image goes before the next one comes
        peer.drop()
    *sides, channels = command["shape"]  # height and width, and before them the depth of a volume
    shape = tuple(sides) if channels == 1 else (*sides, channels)
    image = np.empty(shape, TYPES[command["types"].split(":")[0]])
    rest = memoryview(image).cast("B")
    while rest:
        count = commands.readinto(rest)
        if not count:
            raise EOFError("stdin ended within the pixels")
        rest = rest[count:]
    return {"able": [n for n in command["peers"] if n in PEERS and PEERS[n].load(command["types"], image)]}


def run(command):
    """Makes the tables a number of times to warm up, and once more for its time."""
    peer = PEERS[command["peer"]]
    for _ in range(command["warm"]):
        peer.run()
    return {"ns": peer.run()}


def dump(command):
    """Sends the tables that the last run made."""
    tables = [np.ascontiguousarray(t) for t in PEERS[command["peer"]].dump()]
    return {"bytes": sum(t.nbytes for t in tables)}, tables


DO = {"hello": hello, "load": load, "run": run, "dump": dump}

for line in commands:
    command = json.loads(line)
    reply, tables = DO[command["do"]](command), []
    if isinstance(reply, tuple):
        reply, tables = reply
    replies.write(json.dumps(reply).encode() + b"\n")
    for table in tables:
        replies.write(memoryview(table).cast("B"))
    replies.flush()
    reply = tables = None
