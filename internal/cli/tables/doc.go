// Package tables implements the commands that make tables of images and volumes, query them, and
// draw boxes: integrate, query, histogram, moments, haar, draw and angles.
package tables
