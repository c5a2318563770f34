//go:build race

package xmain_test

const raceEnabled = true
