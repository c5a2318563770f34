//go:build race

package xsnowflake_test

// raceDetector makes everything about twenty times slower, which says nothing of the code.
const raceDetector = true
