//go:build !unix

package xlease

// noFollow is a flag that this system does not have.
const noFollow = 0
