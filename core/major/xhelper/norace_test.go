//go:build !race

package xhelper_test

const raceEnabled = false
