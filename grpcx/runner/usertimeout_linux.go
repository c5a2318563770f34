package runner

import (
	"net"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h, in milliseconds (RFC 5482).
const tcpUserTimeout = 0x12

// setUserTimeout has the kernel close a connection whose peer has not acknowledged what was sent for that long. grpc-go
// does so for a *net.TCPConn, and cannot see that an arrival is one.
func setUserTimeout(conn *net.TCPConn, d time.Duration) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return // closed already
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds())) // without it, pings notice later
	})
}
