//go:build race && !go1.27

package runner_test

import "runtime"

// The race detector of Go 1.26 crashes if two processors run timers of one synctest
// bubble at the same time, since both use the race context of the bubble. Go 1.27 does
// not.
func init() { runtime.GOMAXPROCS(1) }
