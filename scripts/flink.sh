#!/bin/sh
# Fetches the jars of Beam's Flink runner from Maven into .venv/flink, 150 MB, where the tests of the module beam start a
# Flink from. It takes Maven and Java 17.
set -eu
cd "$(dirname "$0")/.."
flink=1.19 beam=2.62.0
folder=.venv/flink
grep -qs "^$flink $beam$" $folder/version && exit 0
command -v mvn >/dev/null || scripts/install.sh maven default-jre-headless
mkdir -p $folder
cat >$folder/pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>boxsum</groupId>
  <artifactId>flink</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.beam</groupId><artifactId>beam-runners-flink-$flink</artifactId><version>$beam</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
XML
(cd $folder && mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib -DincludeScope=runtime)
echo "$flink $beam" >$folder/version
