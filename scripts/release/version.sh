#!/bin/sh
# Writes VERSION, such as v0.2.0, to the file in which the Python package stores its version.
set -eu
cd "$(dirname "$0")/../.."
number=${VERSION#v}
case $VERSION in
v[0-9]*.[0-9]*.[0-9]*) ;;
*) echo "VERSION=$VERSION is not like v0.2.0" >&2; exit 2 ;;
esac
# In Python, v0.2.0-rc.1 is written 0.2.0rc1.
echo "__version__ = \"$(echo "$number" | sed 's/-rc\.*/rc/; s/-beta\.*/b/; s/-alpha\.*/a/')\"" >python/src/boxsum/_version.py
