module github.com/boxsum/boxsum/lab/bench/filters/gopeers

go 1.26

require (
	github.com/anthonynsimon/bild v0.14.0
	github.com/disintegration/gift v1.2.1
	github.com/disintegration/imaging v1.6.2
)

require golang.org/x/image v0.18.0 // indirect
