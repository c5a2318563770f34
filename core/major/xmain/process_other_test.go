//go:build !unix

package xmain_test

// programs are played on Unix only, where signals are.
var programs = map[string]func(){}
