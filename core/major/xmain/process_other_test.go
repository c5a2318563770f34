//go:build !unix

package xmain_test

// programs need the signals of Unix.
var programs = map[string]func(){}
