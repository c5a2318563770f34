//go:build !race

package xapi_test

const raceDetector = false
