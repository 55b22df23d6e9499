#!/bin/sh
# Tests that .ci/run leaves out. Each part is a job of a workflow: cloud and lint run on each push, the others nightly.
# scripts/test-long.sh PART... runs some parts; without arguments it runs all.
set -eu
. "$(dirname "$0")/steps.sh"

setup() {
	scripts/setup.sh
	references
}

# counts runs random tests for longer, with other seeds.
counts() {
	setup
	export BOXSUM_TRIALS="${BOXSUM_TRIALS:-2m}" # duration of each random test, with a seed that failures print
	export BOXSUM_GPU_PAIRS=all      # tables of every pair of types on a device, at three times as many sizes
	export BOXSUM_GPU_SHAPES=1000    # number of random images on a device
	export BOXSUM_GPU_ROUNDS=10000   # number of tables made and freed there
	export BOXSUM_BOXES=1000000      # number of boxes compared with big integers
	export BOXSUM_STORE_KILLS=200    # number of times a running job is killed and resumed
	go test -timeout 100m . ./gpu/... ./threshold ./filter ./detect ./hog ./store ./internal/cli
}

# race runs the race detector on all packages.
race() {
	setup
	scripts/test-race.sh all
}

# portable runs all tests without assembly.
portable() {
	setup
	go test -short -tags noasm -timeout 60m ./...
}

# arm64 runs all loops in an emulator; the regular CI covers the kernels.
arm64() {
	setup
	qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || { left_out "arm64: needs qemu-user"; return; }
	CGO_ENABLED=0 GOARCH=arm64 go vet ./...
	CGO_ENABLED=0 GOARCH=arm64 go test -short -timeout 100m -exec "$qemu" \
		. ./internal/engine ./internal/window ./internal/kernel/... ./filter ./threshold ./match ./detect ./hog ./rotated ./tilted ./haar ./histogram ./moments ./products ./volume
}

# lint runs staticcheck.
lint() {
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
}

# cloud runs the tests of the modules for object stores, with an S3 server in the same process, and for Apache Beam, on
# its runner Prism.
cloud() {
	setup
	(cd cloud && go vet . && go test -timeout 30m .)
	(cd beam && go vet . && go test -timeout 30m .)
}

# servers runs the tests with real servers.
servers() {
	setup
	scripts/test-servers.sh
}

# skimage runs scikit-image's own tests with our functions in place of its own.
skimage() {
	scripts/test-python.sh
	folder=$(mktemp -d)
	.venv/bin/python scripts/dropin.py "$folder"
	rm -rf "$folder"
}

# fuzz runs every fuzzer; regular tests run only the seeds.
fuzz() {
	scripts/fuzz.sh "${FUZZTIME:-10s}"
}

for part in ${*:-counts race portable arm64 lint cloud servers skimage fuzz}; do
	step "$part"
	$part
done

step "all passed"
