//go:build race

package memory_test

// raceDetector reports whether the race detector is enabled, which slows the tests down.
const raceDetector = true
