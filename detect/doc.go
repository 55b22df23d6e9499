// Package detect finds objects in images by cascades of boosted classifiers, as Viola and
// Jones described them: those of OpenCV, from its XML files.
//
//	face, err := detect.LoadFile("haarcascade_frontalface_alt2.xml")
//	found, err := face.Detect(img, nil)
//	found, err := face.DetectImage(photo, &detect.Options{Min: image.Pt(40, 40)})
//	found, err = face.AppendDetect(found[:0], frame, opt) // frame by frame: allocates nothing
//
// A [Cascade] never changes, and any number of goroutines may use one. Haar-like features,
// upright and tilted, and local binary patterns are there, stumps and trees, the format of
// today's files and that of OpenCV 1. Results depend on the image and the options only.
//
// # What equals OpenCV
//
// With [Options.Compat], the rectangles, numbers of neighbours and scores of every upright
// cascade are those of OpenCV 4.14's detectMultiScale2 and detectMultiScale3 on a processor,
// bit for bit, in one order. Without it, the last rows of windows are searched too, which
// OpenCV may lose.
//
// # Turned objects
//
// [Options.Angles] finds turned objects too: [AllAngles] those at any angle.
//
// # Memory
//
// A worker has the tables of some rows of one scale, and nothing is kept of the others:
// less than 24 bytes for each pixel of an image.
//
// docs/detect.md has how to use it, what equals what, and speeds.
package detect
