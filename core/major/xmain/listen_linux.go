package xmain

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// noSYN is a classic BPF program that drops every TCP packet with SYN set, a flag of byte
// 13 of the header (RFC 9293, section 3.1). The last packet of a handshake passes.
var noSYN = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
	{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: 0x02, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
}

// ignoreNew makes the kernel ignore requests for new connections, so that the accept
// queue of l runs dry under any load. The clients repeat them after a second and are then
// refused.
//
// Without it the kernel resets the connections that it completes between the last Accept
// and Close: TestListener_RefuseUnderNewClients fails.
func ignoreNew(l net.Listener) {
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
