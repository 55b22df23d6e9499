// Package detection implements the detect command: it finds objects with cascades in images and
// streams of frames, draws or hides them, and evaluates the results.
package detection
