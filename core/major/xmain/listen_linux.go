package xmain

import (
	"net"
	"os"
	"syscall"
	"time"
)

// noSYN is a filter of packets (classic BPF) that drops those which ask for a new connection: with SYN in the flags, which are byte
// 13 of the header (RFC 9293, section 3.1). A listener has no packets of its own connections but the last one of their
// handshake, which passes.
var noSYN = []syscall.SockFilter{
	{Code: syscall.BPF_LD | syscall.BPF_B | syscall.BPF_ABS, K: 13},
	{Code: syscall.BPF_JMP | syscall.BPF_JSET | syscall.BPF_K, K: 0x02, Jf: 1},
	{Code: syscall.BPF_RET | syscall.BPF_K},
	{Code: syscall.BPF_RET | syscall.BPF_K, K: 0xffffffff},
}

// lull is how long no connection may come until none is taken to be on its way any more: a handshake takes as long as a packet
// there and back.
const lull = 20 * time.Millisecond

// pending accepts what waits in the queue of l, and what is about to come there, and makes the kernel refuse new connections.
//
// A connection that comes between the last look at the queue and the refusal would be reset, and its request lost. So the
// kernel first ignores who asks for a new one: their clients ask again a second later, and are refused then. A socket of
// Multipath TCP takes no filter (Linux: net/mptcp/sockopt.c); there one look has to do.
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
		err := syscall.AttachLsf(int(fd), noSYN) //nolint:staticcheck // SA1019: x/net/bpf assembles what is four instructions here
		fds = acceptAll(int(fd))
		for quiet := time.Duration(0); err == nil && quiet < lull; quiet += time.Millisecond {
			<-time.After(time.Millisecond)
			if more := acceptAll(int(fd)); len(more) > 0 {
				fds, quiet = append(fds, more...), 0
			}
		}
		_ = syscall.Shutdown(int(fd), syscall.SHUT_RD)
	})
	if err != nil {
		return nil
	}
	return conns(fds)
}

// acceptAll empties the queue of a listener.
func acceptAll(fd int) []int {
	var fds []int
	for {
		c, _, err := syscall.Accept4(fd, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		switch {
		case err == nil:
			fds = append(fds, c)
		case err != syscall.EINTR && err != syscall.ECONNABORTED:
			return fds
		}
	}
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
