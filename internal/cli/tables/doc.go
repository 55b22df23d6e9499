// Package tables has the verbs that make tables of images and volumes, ask them for boxes,
// and draw what these cover: integrate, query, histogram, moments, haar, draw and angles.
package tables
