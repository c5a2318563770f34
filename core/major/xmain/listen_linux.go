package xmain

import (
	"net"
	"os"
	"syscall"
)

// pending accepts what waits in the queue of l and, in the same breath, makes the kernel refuse new connections.
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
