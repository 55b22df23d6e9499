"""Answers on standard output what OpenCV's cascades find.

A request is a line: file width height channels scale neighbors minw minh maxw maxh levels
repeat threads, and then the image's pixels. The answer is a line with the number of results, a
line for each of them (x y width height neighbors-or-level weight), and one with the seconds of
the fastest of the repetitions: of the processor for one thread, of the wall for several."""

import sys
import time

import cv2
import numpy as np

loaded = {}


def found(c, img, scale, neighbors, least, most, levels):
    if levels:
        return c.detectMultiScale3(img, scale, neighbors, 0, least, most, True)
    rects, counts = c.detectMultiScale2(img, scale, neighbors, 0, least, most)
    return rects, counts, [0.0] * len(rects)


def main():
    stdin, stdout = sys.stdin.buffer, sys.stdout
    for line in stdin:
        f = line.decode().rstrip("\n").split("\t")
        name, (w, h, channels) = f[0], map(int, f[1:4])
        scale, (neighbors, minw, minh, maxw, maxh, levels, repeat, threads) = float(f[4]), map(int, f[5:13])
        cv2.setNumThreads(threads)
        img = np.frombuffer(stdin.read(w * h * channels), np.uint8).reshape((h, w, channels) if channels > 1 else (h, w))
        c = loaded.get(name)
        if c is None:
            c = loaded[name] = cv2.CascadeClassifier(name)
            assert not c.empty(), name
        best = float("inf")
        clock = time.perf_counter if threads > 1 else time.process_time
        for _ in range(repeat):
            start = clock()
            rects, counts, weights = found(c, img, scale, neighbors, (minw, minh), (maxw, maxh), levels)
            best = min(best, clock() - start)
        print(len(rects), file=stdout)
        for r, n, v in zip(rects, counts, weights):
            print(*(int(i) for i in r), int(n), float(v).hex(), file=stdout)
        print(best, file=stdout, flush=True)


main()
