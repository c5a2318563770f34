//go:build !unix

package xlease

// noFollow has no effect, because this system has no such flag.
const noFollow = 0
