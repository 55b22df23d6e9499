// Package hog computes histograms of oriented gradients, as described by Dalal and Triggs
// ("Histograms of oriented gradients for human detection", CVPR 2005). With these histograms and a
// linear classifier, it finds people and other objects.
//
//	people, err := hog.LoadFile("people.xml") // saved by OpenCV, see below
//	found, err := people.Detect(img, nil)
//	found, err = people.AppendDetect(found[:0], frame, opt) // frame by frame: allocates nothing
//	all, err := people.DetectBatch(frames, &hog.Options{On: d}) // several images of one size, on a GPU
//
//	d, err := hog.New(hog.Config{Window: image.Pt(64, 64), Bins: 8})
//	features, err := d.Compute(img, nil) // d.Size() numbers for every window
//
// A [Descriptor] is immutable and safe for concurrent use. Results depend only on the image, the
// configuration and the options.
//
// # Coefficients
//
// The package contains no coefficients. [Load] reads files written by OpenCV's HOGDescriptor.save,
// as XML, YAML or JSON. With opencv-python-headless below version 5, two lines of Python save the
// coefficients of OpenCV's people detector:
//
//	h = cv2.HOGDescriptor(); h.setSVMDetector(cv2.HOGDescriptor.getDefaultPeopleDetector())
//	h.save("people.xml")
//
// [Config.Coefficients] holds any other coefficients. For a classifier that scikit-learn's
// LinearSVC has trained on the results of Compute, they are its coef_ followed by its intercept_.
//
// # Integral histograms
//
// A [Table] is an integral histogram of the gradients of an image, from which a [BoxDescriptor]
// reads blocks of any size and place:
//
//	d, err := hog.NewBoxes(hog.BoxConfig{Blocks: blocks, Coefficients: coefficients})
//	table, err := hog.Integrate(img, d.Config().Votes, nil)
//	scores, err := d.AppendScores(nil, table, image.Pt(100, 40)) // of the window at (100, 40)
//
// If all blocks have the same size, as in people.xml, a [Descriptor] is faster: it computes each
// block once, whatever the number of windows that contain it.
//
// # Compatibility with OpenCV
//
// Descriptors, scores and rectangles are bit-identical to those of HOGDescriptor in OpenCV 4.14 on
// a CPU with AVX2. There are exceptions where OpenCV reads memory outside the image or stops the
// program, for example if windows are larger than the image or blocks have fewer than four values.
// OpenCV without AVX2 rounds angles differently: descriptors then agree within 1e-5.
package hog
