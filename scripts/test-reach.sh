#!/bin/sh
# Tests beside real servers, which take minutes to build or fetch the first time: an S3 server, emulators of Azure's and Google's stores, and a Flink.
# make test has S3 in the same process, and Prism.
set -eu
. "$(dirname "$0")/steps.sh"

step "object stores: a real S3 server, and the binary that takes every URL"
if scripts/versitygw.sh; then
	(cd cloud && BOXSUM_VERSITYGW="$PWD/../.venv/versitygw/versitygw" BOXSUM_BINARY=1 go test -timeout 15m -run 'TestS3|TestBinary' .)
else
	left_out "a real S3 server: versitygw could not be built"
fi

step "object stores: Azure's emulator"
if scripts/azurite.sh; then
	(cd cloud && BOXSUM_AZURITE="$PWD/../.venv/azurite/node_modules/.bin/azurite-blob" go test -timeout 15m -run TestAzure .)
else
	left_out "Azure's emulator: it takes npm"
fi

step "object stores: an emulator of Google's"
if scripts/fakegcs.sh; then
	(cd cloud && BOXSUM_GCS="$PWD/../.venv/fakegcs/fake-gcs-server" go test -timeout 15m -run TestGCS .)
else
	left_out "an emulator of Google's store: fake-gcs-server could not be built"
fi

step "Apache Beam on a Flink of its own"
if scripts/flink.sh; then
	(cd beam && BOXSUM_FLINK="$PWD/../.venv/flink/lib" go test -timeout 15m -run TestFlink .)
else
	left_out "Flink: it takes Maven Central and Java"
fi

step "all passed"
