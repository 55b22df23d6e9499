// Command faceblur hides the faces in a picture. Check the result before you publish it: no cascade finds
// every face.
//
//	go run ./examples/faceblur party.jpg hidden.png /usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml
package main

import (
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"

	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: faceblur PICTURE HIDDEN.png CASCADE.xml")
		os.Exit(2)
	}
	faces, err := hide(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, "faceblur:", err)
		os.Exit(1)
	}
	fmt.Println("faces hidden:", faces)
}

func hide(from, to, cascade string) (faces int, err error) {
	face, err := detect.LoadFile(cascade)
	if err != nil {
		return 0, err
	}
	picture, err := imgio.Open(from, imgio.Keep)
	if err != nil {
		return 0, err
	}
	defer picture.Close()
	decoded, err := imgio.ToImage(picture.Image)
	if err != nil {
		return 0, err
	}
	found, err := face.DetectImage(decoded, &detect.Options{Min: image.Pt(24, 24)})
	if err != nil {
		return 0, err
	}
	photo := image.NewRGBA(decoded.Bounds())
	draw.Draw(photo, photo.Bounds(), decoded, photo.Bounds().Min, draw.Src)
	for _, one := range found {
		if err := smear(photo, one.Bounds()); err != nil {
			return 0, err
		}
	}
	return len(found), imgio.WriteFile(to, func(w io.Writer) error { return png.Encode(w, photo) })
}

// smear blurs a face and a fifth of its size around it, until only a few spots of color are left.
func smear(photo *image.RGBA, face image.Rectangle) error {
	face = face.Inset(-face.Dx() / 5).Intersect(photo.Bounds())
	part := photo.SubImage(face)
	sigma := float64(face.Dx()) / 6
	soft, err := filter.GaussianImage(part, filter.Sigma{X: sigma, Y: sigma}, nil)
	if err != nil {
		return err
	}
	draw.Draw(photo, face, soft, soft.Bounds().Min, draw.Src)
	return nil
}
