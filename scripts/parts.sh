#!/bin/sh
# Installs what the tests use besides Go, where it can: PoCL (an OpenCL device on
# the processor), Chromium (opens reports), Tesseract (reads pages), xz (packs kernels), OpenCV's cascades, Python's C header,
# and virtual environments with OpenCV, scikit-image and Doxa (oracles). Tests that miss
# one say so. Under CI=true also what a person may not want: LLVM's assembler, qemu and Octave.
set -eu
cd "$(dirname "$0")/.."
missing=
needs() { command -v "$1" >/dev/null || missing="$missing $2"; }
ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || missing="$missing pocl-opencl-icd ocl-icd-libopencl1"
command -v google-chrome >/dev/null || needs chromium chromium
needs tesseract tesseract-ocr
needs xz xz-utils
ls /usr/share/opencv4/*cascades/*.xml >/dev/null 2>&1 || missing="$missing opencv-data"
if [ -n "${CI:-}" ]; then
	needs llvm-mc llvm
	needs octave-cli "octave octave-image" # has much of MATLAB
	command -v qemu-aarch64-static >/dev/null || needs qemu-aarch64 qemu-user
fi
[ -z "$missing" ] || scripts/install.sh $missing || true
scripts/header.sh python3 || true
# They fetch and unpack, which takes longer than it works.
scripts/peers.sh &
scripts/doxa.sh || true
scripts/store-peers.sh || true
scripts/cascades.sh || true
command -v npm >/dev/null || [ -z "${CI:-}" ] || scripts/install.sh npm || true
scripts/axe.sh || true
wait
