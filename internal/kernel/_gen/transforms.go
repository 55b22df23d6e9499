package main

// fourierRoutines lists the steps of Fourier transforms for each float type; transforms/fourier.go
// documents them. A point is two cache lines, one of real and one of imaginary parts.
var fourierRoutines = []struct {
	name string
	emit func(set isa, e elem, name string)
}{
	{"down4", fourierFour(true, true)},
	{"up4", fourierFour(false, true)},
	{"last4", fourierFour(true, false)},
	{"first4", fourierFour(false, false)},
	{"step2", fourierTwo},
	{"multiply", fourierMultiply(false)},
	{"multiplyAdd", fourierMultiply(true)},
	{"transpose", fourierTranspose},
}

// matchRoutines lists the kernels of template matching; transforms/match.go documents them.
var matchRoutines = []routine{
	{"fillU8", fillU8},
	{"scoresF32", scoresF32},
	{"mostF32", mostF32},
	{"factorsU32", factorsU32},
	{"correlateU8", correlateU8},
	{"scoresU32", scoresU32},
}

func fouriers(set isa) {
	for _, e := range []elem{f32, f64} {
		for _, k := range fourierRoutines {
			k.emit(set, e, k.name+fourierType(e)+set.name())
		}
	}
	each(matchRoutines)(set)
}
