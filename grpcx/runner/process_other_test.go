//go:build !unix

package runner_test

// programs are played where there are signals.
var programs map[string]func()
