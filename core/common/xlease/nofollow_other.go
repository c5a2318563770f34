//go:build !unix

package xlease

// noFollow is not supported by this system.
const noFollow = 0
