// Package threshold makes black and white of gray images: pages for OCR and archives,
// cells, marks. Every pixel has a threshold of its own, from the pixels round it, so that
// uneven light does no harm. The time does not depend on how large a window is.
//
//	bin, err := threshold.Binarize(img, threshold.New(threshold.Sauvola, 75), nil) // 0 and 255
//	bin, err := threshold.BinarizeImage(scan, threshold.New(threshold.Su, 0), nil) // any image.Image to *image.Gray
//	fax, err := threshold.BinarizeBits(img, threshold.New(threshold.Wolf, 75), nil) // one bit a pixel
//	m, err := threshold.Map[float32](img, threshold.New(threshold.Sauvola, 25), nil)
//	err = threshold.BinarizeInto(img, img, threshold.New(threshold.Bradley, 0), nil) // in place
//
// # Decisions
//
// A pixel is black if it is no more than its threshold. For uint8 the decisions of all
// methods but [MeanC] are those of Doxa 0.9.9, pixel for pixel: sums are exact, and what is
// made of them is rounded as there. That goes for even windows, those larger than the image
// and flat images too: where all pixels of a window are equal, rounding decides in Niblack,
// Wolf and Phansalkar, there as here. MeanC's are those of cv2.adaptiveThreshold.
//
// # Memory
//
// A worker has a row or two of sums, and as many rows as a window is high where the image
// is written over or for [Su]. Su in place, and [ISauvola] to bits, take a copy of the
// image.
//
// [Compare] measures a result beside the truth. docs/threshold.md has pictures, which
// method is for which scan, and speeds.
package threshold
