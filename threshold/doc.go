// Package threshold binarizes gray images, such as scanned pages for OCR and archives,
// micrographs of cells, and printed marks. Each pixel is compared with a threshold
// computed from the pixels around it, so uneven light does no harm. The running time does
// not depend on the size of the window.
//
//	bin, err := threshold.Binarize(img, threshold.New(threshold.Sauvola, 75), nil) // 0 and 255
//	bin, err := threshold.BinarizeImage(scan, threshold.New(threshold.Su, 0), nil) // any image.Image to *image.Gray
//	fax, err := threshold.BinarizeBits(img, threshold.New(threshold.Wolf, 75), nil) // one bit a pixel
//	m, err := threshold.Map[float32](img, threshold.New(threshold.Sauvola, 25), nil)
//	err = threshold.BinarizeInto(img, img, threshold.New(threshold.Bradley, 0), nil) // in place
//
// # Decisions
//
// A pixel is black if it does not exceed its threshold. For uint8, the decisions of every
// method except [MeanC] match Doxa 0.9.9 pixel for pixel: sums are exact, and the steps
// after them round as in Doxa. This includes even windows, windows larger than the image,
// and flat windows, where rounding alone decides in Niblack, Wolf and Phansalkar. MeanC
// matches cv2.adaptiveThreshold.
//
// # Memory
//
// Each worker holds one or two rows of sums. If the result overwrites the image, and for
// [Su], it also holds as many rows as the window is high. Su copies the image if the
// result overwrites it, and so does [ISauvola] if the result has one bit per pixel.
//
// [Compare] scores a result against ground truth. docs/guides/binarize.md has pictures,
// advice on which method suits which scan, and speeds.
package threshold
