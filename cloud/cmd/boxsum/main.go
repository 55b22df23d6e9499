// Command boxsum is the command of the library with support for URLs of object stores: s3://, gs:// and azblob://.
package main

import (
	_ "github.com/boxsum/boxsum/cloud"
	"github.com/boxsum/boxsum/internal/cli"
)

func main() { cli.Main() }
