"""What OpenCV and scikit-image make of images: each line of standard input is a function,
the height and the width of an image, a window and a number, and after it come the pixels."""
import sys

import cv2
import numpy as np
import skimage.filters

while line := sys.stdin.buffer.readline().split():
    what, height, width, window, number = line[0].decode(), int(line[1]), int(line[2]), int(line[3]), float(line[4])
    image = np.frombuffer(sys.stdin.buffer.read(height * width), np.uint8).reshape(height, width)
    if what == "adaptive":
        out = cv2.adaptiveThreshold(image, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, window, number)
    elif what == "sauvola":
        out = skimage.filters.threshold_sauvola(image, window, number)
    elif what == "niblack":
        out = skimage.filters.threshold_niblack(image, window, number)
    sys.stdout.buffer.write(out.tobytes())
    sys.stdout.buffer.flush()
