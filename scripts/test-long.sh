#!/bin/sh
# The long forms of the tests, which CI runs after those of scripts/test.sh: the
# race detector on the libraries, other platforms and levels, the linter, fuzzers.
set -eu
. "$(dirname "$0")/steps.sh"
scripts/parts.sh
oracles
doxa
stores
cascades

step "other platforms"
packages=$(go list ./... | grep -v python/clib)
# The program takes a minute to compile, and what is behind the page two to run: the tests of the page run it with the race detector too.
libraries=$(go list ./... | grep -v 'python/clib\|cmd/boxsum\|internal/cli\|docs/\|examples/\|internal/explore\|internal/bench\|internal/reproduce\|internal/measure')
GOARCH=386 CGO_ENABLED=0 go vet $packages
for platform in darwin/arm64 windows/amd64; do # what knows of systems; linux/arm64 is tested below
	GOOS=${platform%/*} GOARCH=${platform#*/} CGO_ENABLED=0 go vet . ./cmd/... ./internal/cli ./gpu ./gpu/internal/driver ./gpu/internal/devmem ./imgio ./internal/grid ./internal/engine ./internal/kernel
done

step "staticcheck"
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
if go run $staticcheck -version 2>/dev/null; then
	go run $staticcheck ./...
else
	left_out "staticcheck: $staticcheck could not be had"
fi

step "tables of every pair of types on a device"
BOXSUM_GPU_PAIRS=all go test -timeout 30m ./gpu/...

step "a million boxes, against whole numbers of any size"
BOXSUM_BOXES=1000000 go test -run '^TestProof$' .

step "10,000 thresholds, against Doxa and OpenCV"
BOXSUM_THRESHOLDS=10000 go test -run 'TestDoxa|TestOpenCV|TestBruteForce' ./threshold

step "ten thousand images filtered, against their definition and OpenCV and SciPy"
BOXSUM_FILTERS=10000 go test -run 'Definition|Gaussian|Guided|Median|Radii|Peers' ./filter

step "thousands of images searched, against OpenCV, and damaged cascades"
BOXSUM_DETECTIONS=5000 BOXSUM_DAMAGED=2000 go test -run 'TestOpenCV|TestDamaged' ./detect

step "200 kills of a table under way, each resumed"
BOXSUM_STORE_KILLS=200 go test -run '^TestKill$' ./store

step "tests, with the race detector"
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
	go test -timeout 30m -race -short $libraries
else
	left_out "the race detector: it takes a C compiler"
fi

# What has loops of its own for every level.
loops=". ./internal/... ./filter ./threshold ./detect ./imgio ./rotated ./tilted ./haar ./histogram ./moments ./volume"
loops=$(go list $loops | grep -v 'internal/bench\|internal/cli\|internal/explore\|internal/view\|internal/release\|internal/reproduce\|internal/measure')

step "tests, portable Go only"
go test -short -tags noasm $loops ./match

step "tests on arm64, emulated"
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if [ -z "$qemu" ] && scripts/install.sh qemu-user; then
	qemu=$(command -v qemu-aarch64)
fi
if [ -n "$qemu" ]; then
	CGO_ENABLED=0 GOARCH=arm64 go test -short -timeout 30m -exec "$qemu" $loops
else
	left_out "arm64: it takes qemu-user"
fi

step "scikit-image's own tests, with our functions in place of its own"
if package; then
	status=0
	folder=$(mktemp -d)
	$python scripts/dropin.py "$folder" || status=$?
	rm -rf "$folder"
	case $status in
	0) ;;
	77) left_out "scikit-image's own tests: they take PyPI" ;;
	*) exit 1 ;;
	esac
else
	left_out "scikit-image's own tests: they take the Python package"
fi

step "the page of boxsum view, in a browser"
if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then
	[ -e .axe/axe.min.js ] || left_out "what axe-core says of the page: it takes npm"
	(cd internal/view/browser && go vet . && go test -timeout 20m .)
else
	left_out "the page of boxsum view: it takes chromium"
fi

step "fuzzers, briefly"
scripts/fuzz.sh 3s internal/cli/ # whose take minutes to compile: make fuzz has them

step "all passed"
