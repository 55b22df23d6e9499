#!/bin/sh
# The tests: what a change must pass before it is committed. The long forms are in
# scripts/test-long.sh. A part that cannot be had here, such as an oracle, is left
# out with a word; under CI=true that is a failure.
set -eu
. "$(dirname "$0")/steps.sh"

scratch=$(mktemp -d)
trap end EXIT
trap 'exit 1' INT TERM
beside parts scripts/parts.sh # while Go compiles
[ -z "${BOXSUM_LONG:-}" ] || long_forms

step "gofmt, vet"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not gofmt'ed: $unformatted"; exit 1; }
go vet ./...

step "dependencies, workflows"
scripts/supply.sh

step "generated assembly and tables are what their generator makes"
if (cd internal/kernel/_gen && go build -o "$scratch/gen" .) 2>"$scratch/log"; then
	mkdir "$scratch/kernel"
	"$scratch/gen" -dir "$scratch/kernel"
	for file in "$scratch"/kernel/* internal/kernel/*.s; do
		name=$(basename "$file")
		cmp "$scratch/kernel/$name" "internal/kernel/$name" || { echo "stale: run make generate"; exit 1; }
	done
else
	cat "$scratch/log"
	left_out "the check of generated assembly: its generator could not be built"
fi

step "oracles and devices"
meet parts
oracles
doxa
stores
cascades
# LLVM's assembler judges the instructions that the generator encodes itself.
if command -v llvm-mc >/dev/null || { [ -n "${CI:-}" ] && scripts/install.sh llvm; }; then
	(cd internal/kernel/_gen && go test .)
else
	left_out "the check of encoded instructions: it takes llvm-mc, of Debian's llvm"
fi
ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || [ -e /dev/nvidiactl ] ||
	left_out "tests of the GPU kernels: they take pocl-opencl-icd and ocl-icd-libopencl1, or a GPU"
command -v chromium >/dev/null || command -v google-chrome >/dev/null || left_out "the test that opens a report in a browser: it takes chromium"
command -v tesseract >/dev/null || left_out "the test that reads a page: it takes tesseract-ocr"

step "the site: every link leads somewhere"
(cd docs/site && go vet . && go test -count 1 .) # what is outside of a module does not count for Go's cache

step "tests"
go test -timeout 60m ./threshold . ./gpu ./filter ./internal/cli ./store ./... # the longest first, so that none is waited for

beside python scripts/test-python.sh # which takes one processor, and changes the Python that tests before it use

step "the module of object stores"
(cd cloud && go vet . && go test -timeout 10m .)

step "the module of Apache Beam, on Prism"
(cd beam && go vet . && go test -timeout 10m .)

meet python

step "all passed"
