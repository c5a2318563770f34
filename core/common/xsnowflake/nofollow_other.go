//go:build !unix

package xsnowflake

// noFollow is a flag that this system does not have.
const noFollow = 0
