//go:build race

package xapi_test

// raceDetector reports whether the race detector is enabled. It makes sync.Pool drop
// values at random.
const raceDetector = true
