//go:build !linux

package xmain

import "net"

// dropSYN is implemented on Linux only. On other systems a connection that arrives during
// Close is reset.
func dropSYN(net.Listener) {}
