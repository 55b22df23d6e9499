// Package detect finds objects in images with cascades of boosted classifiers, as described
// by Viola and Jones. It loads cascades from OpenCV's XML files.
//
//	face, err := detect.LoadFile("haarcascade_frontalface_alt2.xml")
//	found, err := face.Detect(img, nil)
//	found, err := face.DetectImage(photo, &detect.Options{Min: image.Pt(40, 40)})
//	all, err := face.DetectBatch(frames, &detect.Options{On: d}) // several images, on a GPU
//	found, err = face.AppendDetect(found[:0], frame, opt) // frame by frame: allocates nothing
//
// A [Cascade] is immutable and safe for concurrent use. The package supports upright and
// tilted Haar-like features, local binary patterns, stumps and trees, the current file
// format and that of OpenCV 1. Results depend only on the image and the options.
//
// # Compatibility with OpenCV
//
// With [Options.Compat], the rectangles, neighbor counts and scores of every upright
// cascade match detectMultiScale2 and detectMultiScale3 of OpenCV 4.14 on a CPU bit for
// bit, in a fixed order. Without it, Detect also searches the last row of windows, which
// OpenCV may skip.
//
// # Rotated objects
//
// [Options.Angles] finds rotated objects too. Set it to [AllAngles] to find objects at any
// angle.
//
// # Memory
//
// Each worker holds the tables for some rows of one scale at a time: less than 24 bytes per
// pixel of the image.
//
// docs/guides/faces.md has examples, details on compatibility, and speeds.
package detect
