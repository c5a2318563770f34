//go:build !unix

package runner_test

// programs need signals.
var programs map[string]func()
