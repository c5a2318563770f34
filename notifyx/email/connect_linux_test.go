package email_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx/email"
)

// deafPort returns a port whose queue of connections is full, so that the next one is
// neither made nor refused.
func deafPort(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
		syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := name.(*syscall.SockaddrInet4).Port
	for range 16 { // until it is full
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp",
			net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		cancel()
		if err != nil {
			return port
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Skip("this system takes every connection")
	return 0
}

func TestAServerThatDoesNotConnectIsLeftInTime(t *testing.T) {
	c := config(deafPort(t))
	c.DialTimeout = 200 * time.Millisecond
	err := newClient(t, c).Send(t.Context(), hello())
	if !errors.Is(err, email.ErrTimeout) || !errors.Is(err, email.ErrConnection) {
		t.Errorf("Send = %v, want ErrTimeout and ErrConnection", err)
	}
}

func TestAServerThatDoesNotConnectIsLeftWithTheContext(t *testing.T) {
	client := newClient(t, config(deafPort(t)))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := client.Send(ctx, hello()); !errors.Is(err, email.ErrTimeout) ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Send = %v, want ErrTimeout and DeadlineExceeded", err)
	}
}
