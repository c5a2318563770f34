//go:build unix

package xlease

import "syscall"

const noFollow = syscall.O_NOFOLLOW
