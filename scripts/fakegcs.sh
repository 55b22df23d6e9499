#!/bin/sh
# Builds fake-gcs-server, an emulator of Google's object store, into .venv/fakegcs: the tests of the module cloud talk to it. It takes
# the versions of packages that the module cloud has, so that they are compiled once for both.
set -eu
cd "$(dirname "$0")/.."
version=v1.56.1
folder=.venv/fakegcs
grep -qs "^$version$" $folder/version && exit 0
mkdir -p $folder
{
	echo "module fakegcs"
	sed -n '/^go /p' cloud/go.mod
	echo "require ("
	sed -n 's#^	\(require \)*\(\(cloud.google.com\|google.golang.org\|go.opentelemetry.io\|golang.org\)/[^ ]* v[^ ]*\).*#	\2#p' cloud/go.mod
	echo "	github.com/fsouza/fake-gcs-server $version"
	echo ")"
} >$folder/go.mod
(cd $folder && go build -mod=mod -ldflags='-s -w' -o fake-gcs-server github.com/fsouza/fake-gcs-server)
echo $version >$folder/version
