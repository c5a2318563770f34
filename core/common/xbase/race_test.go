//go:build race

package xbase_test

// raceDetector reports whether the race detector is enabled. If it is, sync.Pool drops
// items at random, so allocations cannot be counted.
const raceDetector = true
