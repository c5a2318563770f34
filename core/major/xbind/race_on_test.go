//go:build race

package xbind_test

// raceDetector says that the pools of package sync drop what they hold at random.
const raceDetector = true
