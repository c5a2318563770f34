package xmain

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// noSYN is a classic BPF program that drops every TCP packet with the SYN flag, in byte
// 13 of the header (RFC 9293, section 3.1). It passes the last packet of a handshake.
var noSYN = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
	{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: 0x02, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
}

// dropSYN makes the kernel drop requests for new connections, so that the accept queue of
// l empties under any load. Clients retransmit after a second and are then rejected.
//
// Without dropSYN the kernel resets connections that it completes between the last Accept
// and Close, and TestListener_StopAccepting_NewClients fails.
func dropSYN(l net.Listener) {
	s, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		program := unix.SockFprog{Len: uint16(len(noSYN)), Filter: &noSYN[0]}
		_ = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	})
}
