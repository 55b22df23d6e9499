#!/bin/sh
# Runs the race detector, by default on the tests about concurrency in packages with several goroutines;
# "scripts/test-race.sh all" runs all packages. Assembly is disabled, because the detector does not see its memory
# accesses; the portable loops access the same memory.
set -eu
. "$(dirname "$0")/steps.sh"
references
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	left_out "the race detector: needs a C compiler and cgo"
	exit 0
fi
packages="./internal/engine ./internal/window ./detect ./hog ./store ./store/sources ./zarr ./web/explore ./gpu/internal/transfer"
if [ "${1:-}" = all ]; then
	packages=$(go list ./...)
fi
step "the race detector"
go test -race -short -tags noasm -timeout 60m $packages
if [ "${1:-}" != all ]; then
	go test -race -short -tags noasm -timeout 60m -run 'Pipeline|Several|Close|Concurrent|AtOnce|Beside' ./gpu
fi

step "all passed"
