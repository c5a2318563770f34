//go:build race

package openapix_test

// raceFactor is the factor by which the race detector may slow down a test.
const raceFactor = 20
