// Package hog computes histograms of oriented gradients, as described by Dalal and Triggs
// ("Histograms of oriented gradients for human detection", CVPR 2005), and finds people and
// other objects with a linear classifier of them.
//
//	people, err := hog.LoadFile("people.xml") // saved by OpenCV, see below
//	found, err := people.Detect(img, nil)
//	found, err = people.AppendDetect(found[:0], frame, opt) // frame by frame: allocates nothing
//
//	d, err := hog.New(hog.Config{Window: image.Pt(64, 64), Bins: 8})
//	features, err := d.Compute(img, nil) // d.Size() numbers for every window
//
// A [Descriptor] is immutable and safe for concurrent use. Results depend only on the image,
// the configuration and the options.
//
// # Coefficients
//
// The package has no coefficients of its own. [Load] reads what OpenCV's HOGDescriptor.save
// wrote, as XML, YAML or JSON; two lines of Python save OpenCV's detector of people, with
// opencv-python-headless below version 5:
//
//	h = cv2.HOGDescriptor(); h.setSVMDetector(cv2.HOGDescriptor.getDefaultPeopleDetector())
//	h.save("people.xml")
//
// Others go into [Config.Coefficients]: for a classifier trained by scikit-learn's LinearSVC
// on the results of Compute, its coef_ followed by its intercept_.
//
// # Compatibility with OpenCV
//
// Descriptors, scores and rectangles equal those of HOGDescriptor in OpenCV 4.14 on a CPU
// with AVX2 bit for bit, except where OpenCV reads memory outside the image or stops the
// program: windows larger than the image, blocks of fewer than four numbers, and others.
// OpenCV without AVX2 rounds angles differently: descriptors then agree within 1e-5.
package hog
