#!/bin/sh
# Every test. A part that cannot be had here, such as another machine's
# emulator, is left out with a word; under CI=true that is a failure.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }
left_out() {
	echo "left out: $*"
	[ -z "${CI:-}" ] || exit 1
}

step "OpenCV and scikit-image, to compare with"
if scripts/peers.sh; then
	BOXSUM_PEERS_PYTHON=$PWD/.venv/bin/python
	export BOXSUM_PEERS_PYTHON
else
	left_out "tests against OpenCV and scikit-image: it takes Python 3 with venv, and PyPI"
fi

step "PoCL, an OpenCL device on the processor"
no_opencl() { go run ./cmd/boxsum devices | grep '^opencl *none'; }
if no_opencl && { ! scripts/install.sh pocl-opencl-icd ocl-icd-libopencl1 || no_opencl; }; then
	left_out "tests of the GPU kernels: they take pocl-opencl-icd and ocl-icd-libopencl1, or a GPU"
fi
export POCL_WORK_GROUP_SPECIALIZATION=0 # or PoCL compiles every kernel three times

step "Chromium, to open reports in"
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null && ! scripts/install.sh chromium; then
	left_out "the test that opens a report in a browser: it takes chromium"
fi

step "gofmt, vet, staticcheck"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not gofmt'ed: $unformatted"; exit 1; }
go vet ./...
go vet -tags noasm ./...
for platform in linux/386 linux/arm64 darwin/arm64 windows/amd64; do
	GOOS=${platform%/*} GOARCH=${platform#*/} CGO_ENABLED=0 go vet . ./internal/... ./imgio ./rotated ./tilted ./haar ./histogram ./moments ./volume ./gpu/... ./papers ./cmd/...
done
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
if go run $staticcheck -version 2>/dev/null; then
	go run $staticcheck ./...
else
	left_out "staticcheck: $staticcheck could not be had"
fi

step "generated assembly is what its generator makes"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
if (cd internal/kernel/_gen && go build -o "$fresh/gen" .) 2>"$fresh/log"; then
	for committed in internal/kernel/*avx*_amd64.s; do # such as avx2_amd64.s or histogram_avx2_amd64.s
		name=$(basename "$committed" _amd64.s)
		part=${name%avx*}
		part=${part%_}
		"$fresh/gen" -part "${part:-sums}" -level "avx${name##*avx}" -out "$fresh/made.s" -stubs "$fresh/made.go" -pkg kernel
		for ext in s go; do # the first line says by which command
			sed 1d "internal/kernel/${name}_amd64.$ext" >"$fresh/committed"
			sed 1d "$fresh/made.$ext" | cmp - "$fresh/committed" || { echo "stale: run make generate"; exit 1; }
		done
	done
else
	cat "$fresh/log"
	left_out "the check of generated assembly: its generator could not be built"
fi

step "tests"
go test ./...

step "the Python package"
python=.venv/bin/python
if [ -z "${BOXSUM_PEERS_PYTHON:-}" ] || [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	left_out "the Python package: it takes Python 3 with venv, PyPI and a C compiler"
elif $python -m pip install --quiet --disable-pip-version-check pytest hypothesis &&
	$python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall ./python; then
	# Those of arrays on a GPU, pytest -m cuda, take one, CuPy and PyTorch.
	$python -m pytest -q -p no:cacheprovider --ignore python/tests/test_cuda.py python/tests --doctest-modules --doctest-glob='*.md' --pyargs boxsum docs/python.md
else
	left_out "the Python package: it could not be built"
fi

step "tests, with the race detector"
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
	go test -race -short ./...
else
	left_out "the race detector: it takes a C compiler"
fi

step "tests, portable Go only"
go test -short -tags noasm . ./internal/... ./imgio ./rotated ./tilted ./haar ./histogram ./moments ./volume

step "tests on arm64, emulated"
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if [ -z "$qemu" ] && scripts/install.sh qemu-user; then
	qemu=$(command -v qemu-aarch64)
fi
if [ -n "$qemu" ]; then
	CGO_ENABLED=0 GOARCH=arm64 go test -short -exec "$qemu" . ./internal/... ./imgio ./rotated ./tilted ./histogram ./moments ./volume
else
	left_out "arm64: it takes qemu-user"
fi

step "fuzzers, briefly"
scripts/fuzz.sh 3s
