package detect_test

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/imgio"
)

// A small cascade finds the sun in the demo picture. Cascades for faces come with OpenCV.
func ExampleCascade_Detect() {
	sun, err := detect.LoadFile("../web/explore/sun.xml")
	if err != nil {
		panic(err)
	}
	found, err := sun.Detect(imgio.Demo(960, 540), &detect.Options{Min: image.Pt(48, 48)})
	if err != nil {
		panic(err)
	}
	for _, r := range found {
		fmt.Println(r.Rect, r.Neighbors)
	}
	// Output: (502,128)-(696,322) 73
}
