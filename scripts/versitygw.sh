#!/bin/sh
# Builds versitygw, an S3 server on a folder, into .venv/versitygw: the tests of the module cloud talk to it. It takes the versions
# of Amazon's packages that the module cloud has, which are most of it, so that they are compiled once for both.
set -eu
cd "$(dirname "$0")/.."
version=v1.8.0
folder=.venv/versitygw
grep -qs "^$version$" $folder/version && exit 0
mkdir -p $folder
{
	echo "module versitygw"
	sed -n '/^go /p' cloud/go.mod
	echo "require ("
	sed -n 's#^.*\(github.com/aws/[^ ]* v[^ ]*\).*#\t\1#p' cloud/go.mod
	echo "	github.com/versity/versitygw $version"
	echo ")"
} >$folder/go.mod
(cd $folder && go build -mod=mod -ldflags='-s -w' -o versitygw github.com/versity/versitygw/cmd/versitygw)
echo $version >$folder/version
