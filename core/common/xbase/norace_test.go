//go:build !race

package xbase_test

const raceDetector = false
