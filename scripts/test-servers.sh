#!/bin/sh
# Tests object stores and Apache Beam with real servers, which take minutes to build or download the first time:
# versitygw (S3), Azurite (Azure), fake-gcs-server (Google) and Flink. The part cloud of scripts/test-long.sh uses an
# in-process S3 server and Prism instead.
set -eu
. "$(dirname "$0")/steps.sh"
versitygw=v1.8.0 gcs=v1.56.1 azurite=3.35.0

# build_server NAME PACKAGE VERSION PATTERN builds a server into .venv/NAME. For modules that match the pattern it uses
# the versions of the module cloud, so that they are compiled only once.
build_server() {
	folder=.venv/$1
	! grep -qs "^$3$" "$folder/version" || return 0
	mkdir -p "$folder"
	module=$(echo "$2" | cut -d/ -f1-3)
	{
		echo "module $1"
		sed -n '/^go /p' cloud/go.mod
		echo "require ("
		sed -n "s#^\(require\)\{0,1\}[[:space:]]*\(\($4\)/[^ ]* v[^ ]*\).*#	\2#p" cloud/go.mod
		echo "	$module $3"
		echo ")"
	} >"$folder/go.mod"
	(cd "$folder" && go build -mod=mod -ldflags='-s -w' -o "$1" "$2") && echo "$3" >"$folder/version"
}

step "S3: versitygw, and the program that takes every URL"
if build_server versitygw github.com/versity/versitygw/cmd/versitygw $versitygw 'github.com/aws'; then
	(cd cloud && BOXSUM_VERSITYGW=$PWD/../.venv/versitygw/versitygw BOXSUM_BINARY=1 go test -timeout 15m -run 'TestS3|TestBinary' .)
else
	left_out "a real S3 server: versitygw could not be built"
fi

step "Google: fake-gcs-server"
if build_server fake-gcs-server github.com/fsouza/fake-gcs-server $gcs 'cloud.google.com\|google.golang.org\|go.opentelemetry.io\|golang.org'; then
	(cd cloud && BOXSUM_GCS=$PWD/../.venv/fake-gcs-server/fake-gcs-server go test -timeout 15m -run TestGCS .)
else
	left_out "an emulator of Google's store: fake-gcs-server could not be built"
fi

step "Azure: Azurite"
if mkdir -p .venv/azurite && (cd .venv/azurite && npm install --silent --no-audit --no-fund --prefix . azurite@$azurite); then
	(cd cloud && BOXSUM_AZURITE=$PWD/../.venv/azurite/node_modules/.bin/azurite-blob go test -timeout 15m -run TestAzure .)
else
	left_out "Azure's emulator: needs npm"
fi

step "Apache Beam on Flink"
if beam/flink/fetch.sh; then
	(cd beam && BOXSUM_FLINK=$PWD/../.venv/flink/lib go test -timeout 15m -run TestFlink .)
else
	left_out "Flink: needs Maven Central and Java"
fi

step "all passed"
