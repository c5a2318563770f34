package xmain

import (
	"net"
	"os"
	"syscall"
)

// nothing is a filter of packets that lets none through (classic BPF: return 0).
var nothing = []syscall.SockFilter{{Code: syscall.BPF_RET | syscall.BPF_K}}

// pending accepts what waits in the queue of l and makes the kernel refuse new connections.
//
// A connection that comes between the last look at the queue and the refusal would be reset, and its request lost. So the
// kernel first ignores packets of new connections: their clients send them again a second later, and are refused then.
func pending(l net.Listener) []net.Conn {
	s, ok := l.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	var fds []int
	err = raw.Control(func(fd uintptr) {
		_ = syscall.AttachLsf(int(fd), nothing) //nolint:staticcheck // SA1019: x/net/bpf assembles what is one instruction here; without the filter it is as said above
		for {
			c, _, err := syscall.Accept4(int(fd), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
			if err == syscall.EINTR || err == syscall.ECONNABORTED {
				continue
			}
			if err != nil {
				break
			}
			fds = append(fds, c)
		}
		_ = syscall.Shutdown(int(fd), syscall.SHUT_RD)
	})
	if err != nil {
		return nil
	}
	return conns(fds)
}

// conns makes connections of file descriptors.
func conns(fds []int) []net.Conn {
	list := make([]net.Conn, 0, len(fds))
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "accepted")
		c, err := net.FileConn(f)
		_ = f.Close() // FileConn has its own copy
		if err == nil {
			list = append(list, c)
		}
	}
	return list
}
