//go:build race && !go1.27

package runner_test

import "runtime"

// The race detector of Go 1.26 crashes if two processors run timers of one synctest
// bubble concurrently. Go 1.27 fixes this.
func init() { runtime.GOMAXPROCS(1) }
