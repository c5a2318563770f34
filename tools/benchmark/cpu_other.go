//go:build !unix

package main

import "time"

// processStart replaces the CPU time on systems without getrusage.
var processStart = time.Now()

func cpu() time.Duration { return time.Since(processStart) }
