//go:build linux

package runner

import (
	"net"
	"syscall"
	"testing"
)

func TestDeadPeersAreNoticedByTheKernelToo(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := newPendingConns(l, newIntake(newConfig(nil), limitVariables{}))
	defer func() { _ = a.Close() }()
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	conn, err := a.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var got int
	if err := raw.Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout) }); err != nil {
		t.Fatal(err)
	}
	if want := int(pingTimeout.Milliseconds()); err != nil || got != want {
		t.Errorf("TCP_USER_TIMEOUT = %d, %v, want %d", got, err, want)
	}
}
