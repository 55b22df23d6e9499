#!/bin/sh
# The long forms of the tests, which CI runs after those of scripts/test.sh: more of
# everything, the race detector, other platforms and levels, real servers, the
# linter, fuzzers. CI had the packages try more in scripts/test.sh already.
set -eu
. "$(dirname "$0")/steps.sh"
scratch=$(mktemp -d)
trap end EXIT
trap 'exit 1' INT TERM
scripts/parts.sh
oracles
doxa
stores
cascades

if [ -z "${BOXSUM_LONG:-}" ]; then
	step "packages that try more"
	(long_forms && go test -timeout 60m . ./gpu/... ./threshold ./filter ./detect ./store)
fi

# What takes one processor, or waits, goes beside what takes all.
beside reach scripts/test-reach.sh
beside page scripts/test-page.sh

step "staticcheck"
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
if go run $staticcheck -version 2>/dev/null; then
	go run $staticcheck ./...
else
	left_out "staticcheck: $staticcheck could not be had"
fi

# What has loops of its own for every level.
loops=". ./internal/... ./filter ./threshold ./detect ./rotated ./tilted ./haar ./histogram ./moments ./volume"
all=$(go list ./...)
loops=$(go list $loops)
loops=$(echo "$loops" | grep -v 'internal/bench\|internal/cli\|internal/explore\|internal/view\|internal/release\|internal/reproduce\|internal/measure')
# One goroutine works in packages of kernels, and in imgio; the program takes a minute to compile, and a workflow has it.
libraries=$(echo "$all" | grep -v 'internal/kernel\|internal/method\|imgio\|python/clib\|cmd/boxsum\|internal/cli\|docs/\|examples/\|internal/bench\|internal/reproduce\|internal/measure')

# The race detector does not see what assembly reads and writes: with the portable
# loops it sees all, and they are tested.
step "portable Go only, with the race detector"
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
	go test -timeout 60m -race -short -tags noasm $libraries
else
	go test -timeout 60m -short -tags noasm $loops ./match
	left_out "the race detector: it takes a C compiler"
fi

step "tests on arm64, emulated"
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if [ -z "$qemu" ] && scripts/install.sh qemu-user; then
	qemu=$(command -v qemu-aarch64)
fi
if [ -n "$qemu" ]; then
	GOARCH=arm64 CGO_ENABLED=0 go vet ./internal/kernel
	CGO_ENABLED=0 GOARCH=arm64 go test -short -timeout 60m -exec "$qemu" $loops
else
	left_out "arm64: it takes qemu-user"
fi

step "fuzzers, briefly"
scripts/fuzz.sh 2s "(filter|match|rotated|internal/(cli|measure|reproduce))/" # whose take minutes to compile: make fuzz has them

step "real servers, and the page of boxsum view in a browser"
meet reach page

step "all passed"
