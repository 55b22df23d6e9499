#!/bin/sh
# Fetches axe-core, which looks for what keeps people with a screen reader or without a mouse out of a
# page, from npm to .axe.
set -eu
cd "$(dirname "$0")/.."
version=4.11.0
[ -e ".axe/$version" ] && exit 0
rm -rf .axe
mkdir .axe
cd .axe
npm pack --silent "axe-core@$version" >/dev/null
tar xzf "axe-core-$version.tgz" package/axe.min.js
mv package/axe.min.js axe.min.js
rm -r package "axe-core-$version.tgz"
touch "$version"
