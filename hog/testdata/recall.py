"""Prints how many people OpenCV and boxsum find in a video, and in how many frames their rectangles differ.

    python hog/testdata/recall.py vtest.avi

Needs opencv-python-headless below 5 and boxsum. The video is in Debian's package opencv-doc, in
/usr/share/doc/opencv-doc/examples/data. Of its frames 100, 200 to 600, the people who are at least 48 pixels high and
not hidden were marked by hand. A rectangle finds a person if its center lies in the mark, and three quarters of its
height, which a person takes in a window, are that of the mark up to a factor of 1.5.
"""

import sys

import cv2
import numpy as np
from boxsum.compat import cv2 as ours

PEOPLE = {  # x0, y0, x1, y1 by frame
    100: [(349, 201, 382, 274), (375, 178, 409, 256), (495, 148, 517, 219), (517, 152, 540, 221), (591, 153, 616, 233)],
    200: [
        (84, 155, 110, 214), (219, 192, 249, 267), (488, 145, 517, 222), (678, 99, 696, 155), (702, 103, 720, 155), (616, 264, 650, 369),
        (705, 254, 741, 354),
    ],
    300: [
        (188, 158, 219, 234), (245, 158, 270, 221), (296, 157, 322, 230), (315, 209, 343, 294), (583, 158, 611, 235), (619, 160, 642, 234),
    ],
    400: [(273, 201, 300, 285), (590, 141, 616, 203), (688, 301, 743, 411)],
    500: [(307, 188, 331, 264), (556, 239, 591, 348), (571, 282, 613, 392), (614, 274, 640, 374)],
    600: [(189, 143, 214, 213), (571, 200, 596, 287), (670, 210, 699, 296), (454, 302, 503, 418), (644, 304, 670, 411)],
}  # fmt: skip


def judge(boxes, people, enlarged):
    """How many people are found, and how many boxes find none."""
    found, false = set(), 0
    for x, y, w, h in np.asarray(boxes, float).reshape(-1, 4) / enlarged:
        x, y, height = x + w / 2, y + h / 2, 0.75 * h
        near = [i for i, (x0, y0, x1, y1) in enumerate(people) if x0 <= x <= x1 and y0 <= y <= y1 and 2 / 3 <= height / (y1 - y0) <= 1.5]
        found.update(near[:1])
        false += not near
    return len(found), false


def main():
    cv2.setNumThreads(1)
    detectors = [cv2.HOGDescriptor(), ours.HOGDescriptor()]
    for d in detectors:
        d.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    video, number, frames, rectangles, differ, marked = cv2.VideoCapture(sys.argv[1]), 0, 0, 0, 0, {}
    while True:
        ok, frame = video.read()
        if not ok:
            break
        if number in PEOPLE:
            marked[number] = frame
        if number % 4 == 0:
            (a, v), (b, w) = (d.detectMultiScale(frame) for d in detectors)
            frames, rectangles = frames + 1, rectangles + len(a)
            differ += not (np.array_equal(a, b) and np.array_equal(np.ravel(v), np.ravel(w)))
        number += 1
    print(f"{frames} frames, {rectangles} rectangles, {differ} frames differ")
    print(sum(map(len, PEOPLE.values())), "people are marked")
    for enlarged in (1, 2):
        for threshold in (-0.3, 0, 0.3, 0.6, 1.0):
            counts = np.zeros((2, 2), int)
            for n, frame in marked.items():
                image = cv2.resize(frame, None, fx=enlarged, fy=enlarged, interpolation=cv2.INTER_LINEAR)
                for k, d in enumerate(detectors):
                    counts[k] += judge(d.detectMultiScale(image, threshold, (8, 8), (16, 16), 1.05)[0], PEOPLE[n], enlarged)
            (theirs, others), (mine, wrong) = counts
            print(f"enlarged {enlarged} times, threshold {threshold}: OpenCV finds {theirs} and {others} others, boxsum {mine} and {wrong}")


main()
