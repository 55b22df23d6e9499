"""Answers on standard output what OpenCV's HOGDescriptor computes.

A request is a line of JSON and then the image's pixels. The answer is a line with two numbers, n
and m, followed by n*m float64 in native order: m numbers for each of n results. OpenCV takes the
clipping threshold of the first descriptor in a process for all later ones, so a process accepts
only one."""

import json
import sys
import time

import cv2
import numpy as np

cv2.setNumThreads(1)
clips = set()


def descriptor(q):
    c = q["config"]
    h = cv2.HOGDescriptor(
        tuple(c["window"]), tuple(c["block"]), tuple(c["stride"]), tuple(c["cell"]), c["bins"], 1, c["sigma"], 0, c["clip"],
        not c["linear"], c["levels"], c["signed"])
    clips.add(c["clip"])
    assert len(clips) == 1, clips
    return h


def answer(q, img):
    do = q["do"]
    if do == "fused":
        avx2, fma3 = 11, 12  # numbers of OpenCV, which Python has no names for
        return np.array([[cv2.checkHardwareSupport(avx2) and cv2.checkHardwareSupport(fma3)]])
    if do in ("people", "daimler"):
        return (cv2.HOGDescriptor_getDefaultPeopleDetector if do == "people" else cv2.HOGDescriptor_getDaimlerPeopleDetector)()
    if do == "save":
        h = descriptor(q)
        if q["svm"]:
            h.setSVMDetector(np.array(q["svm"], np.float32))
        h.save(q["file"])
        return np.zeros((0, 1))
    if do == "load":
        h = cv2.HOGDescriptor()
        assert h.load(q["file"])
        return np.concatenate([
            [*h.winSize, *h.blockSize, *h.blockStride, *h.cellSize, h.nbins, h.winSigma, h.L2HysThreshold, h.gammaCorrection,
             h.nlevels, h.signedGradient],
            h.svmDetector])[None]
    h = descriptor(q)
    step, padding, at = tuple(q["step"]), tuple(q["padding"]), q["at"] or ()
    if do == "compute":
        return h.compute(img, step, padding, at)
    if do == "gradients":
        (votes, bins) = h.computeGradient(img, None, None, padding, step)
        return np.concatenate([votes, bins], 2).reshape(-1, 4)
    h.setSVMDetector(np.array(q["svm"], np.float32))
    if do == "time":
        cv2.setNumThreads(q["threads"])
        clock = time.process_time if q["threads"] == 1 else time.perf_counter
        start = clock()
        h.detectMultiScale(img, q["threshold"], step, padding, q["scale"], q["group"], q["meanshift"])
        return np.array([[clock() - start]])
    if do == "detect":
        points, weights = h.detect(img, q["threshold"], step, padding, at)
    else:
        points, weights = h.detectMultiScale(img, q["threshold"], step, padding, q["scale"], q["group"], q["meanshift"])
    if len(points) == 0:
        return np.zeros((0, 1))
    return np.column_stack([np.asarray(points, float), np.ravel(weights)])


def main():
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    for line in stdin:
        q = json.loads(line)
        w, h, channels = q["size"]
        img = np.frombuffer(stdin.read(w * h * channels), np.uint8).reshape((h, w, channels) if channels > 1 else (h, w))
        a = np.ascontiguousarray(answer(q, img), float)
        if a.ndim == 1:
            a = a[:, None]
        stdout.write(b"%d %d\n" % a.shape)
        stdout.write(a.tobytes())
        stdout.flush()


main()
