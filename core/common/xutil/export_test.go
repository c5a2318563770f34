package xutil

// RunningHashes is the number of password hashes that are being computed.
func RunningHashes() int { return len(running) }
