//go:build !race

package openapix_test

const raceFactor = 1
