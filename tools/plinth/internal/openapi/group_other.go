//go:build !unix

package openapi

import "os/exec"

// separate does nothing: this platform has no process groups. The cancellation of its
// context kills the process only.
func separate(*exec.Cmd) {}
