// Package detection has the verb detect: it finds objects by cascades in images and in
// streams of frames, draws or hides them, and measures how many it finds.
package detection
