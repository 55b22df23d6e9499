package explore

func codeOf(doc Document, r *request) (any, []byte, error) {
	return nil, nil, refuse("no code yet")
}
