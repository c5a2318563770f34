//go:build !race

package xbind_test

const raceDetector = false
