#!/bin/sh
# Installs what the tests use besides Go, where it can: PoCL (an OpenCL device on
# the processor), Chromium (opens reports), Tesseract (reads pages), OpenCV's cascades,
# Python's C header, and virtual environments with OpenCV, scikit-image and Doxa (oracles). Tests that miss
# one say so.
set -eu
cd "$(dirname "$0")/.."
missing=
ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || missing="$missing pocl-opencl-icd ocl-icd-libopencl1"
command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing="$missing chromium"
ls /usr/share/opencv4/*cascades/*.xml >/dev/null 2>&1 || missing="$missing opencv-data"
command -v tesseract >/dev/null || missing="$missing tesseract-ocr"
[ -z "$missing" ] || scripts/install.sh $missing || true
scripts/header.sh python3 || true
scripts/peers.sh || true
scripts/doxa.sh || true
scripts/cascades.sh || true
