// Package imagefile opens the images, volumes and arrays that commands read, from files, standard
// input and stores, and writes results, which appear complete or not at all.
package imagefile
