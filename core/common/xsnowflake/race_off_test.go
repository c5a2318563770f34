//go:build !race

package xsnowflake_test

const raceDetector = false
