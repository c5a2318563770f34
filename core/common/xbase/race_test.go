//go:build race

package xbase_test

// raceDetector empties pools at random, so that what they save cannot be counted.
const raceDetector = true
