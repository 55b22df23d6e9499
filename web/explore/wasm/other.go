//go:build !js

package main

import "fmt"

func main() { fmt.Println("this is for browsers: make site builds it") }
