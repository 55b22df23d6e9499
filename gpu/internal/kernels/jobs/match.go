package jobs

// A Match is the job of template matching in byte images. The template consists of words of four
// pixels, padded with zeros.
type Match struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	SumT, SquaresT                   int64 // of the template
	Width, Height, Images            int32 // of the scores
	TemplateWidth, TemplateHeight    int32
	Words, Method, Aligned           int32 // Aligned: words of images are aligned to four bytes
}
