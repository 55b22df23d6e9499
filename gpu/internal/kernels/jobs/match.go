package jobs

// A Match is images of bytes, a template in words of four pixels, its last ones filled up
// with zeros, and where scores go.
type Match struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	SumT, SquaresT                   int64 // of the template
	Width, Height, Images            int32 // of scores
	TemplateWidth, TemplateHeight    int32
	Words, Method, Aligned           int32 // Aligned: words of images lie on multiples of four bytes
}
