#!/bin/sh
# Fetches the jars of Beam's Flink runner, those of scripts/flink.jars, from Maven Central into .venv/flink/lib, 150 MB: the tests of the module
# beam start a Flink from them. It takes curl and Java 17. The list is what mvn dependency:copy-dependencies has for
# org.apache.beam:beam-runners-flink-1.19:2.62.0 and org.slf4j:slf4j-simple:1.7.36.
set -eu
cd "$(dirname "$0")/.."
folder=.venv/flink
list=scripts/flink.jars
cmp -s $list $folder/jars && exit 0
command -v java >/dev/null || scripts/install.sh default-jre-headless
command -v curl >/dev/null || scripts/install.sh curl
mkdir -p $folder/lib
central=${MAVEN_CENTRAL:-https://repo.maven.apache.org/maven2}
# Those of another list go, and those that are not whole come again.
for jar in $folder/lib/*.jar; do
	grep -q "/${jar##*/}$" $list || rm -f "$jar"
done
check() { sed 's#  .*/#  #' $list | (cd $folder/lib && sha256sum --check --quiet - 2>/dev/null); }
check >/dev/null || {
	sed "s#^[^ ]*  \(.*\)#url = \"$central/\1\"#; p; s#^url = \".*/\(.*\)\"#output = \"$folder/lib/\1\"#" $list |
		curl --silent --show-error --no-progress-meter --fail --location --retry 5 --parallel --parallel-max 16 --config -
	check
}
cp $list $folder/jars
