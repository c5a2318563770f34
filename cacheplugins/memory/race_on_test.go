//go:build race

package memory_test

// raceDetector says that the tests run for the sake of what goroutines do side by side,
// and several times slower.
const raceDetector = true
