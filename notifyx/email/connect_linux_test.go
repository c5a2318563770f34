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

// fullPort returns a port with a full accept queue, so that connection attempts neither
// succeed nor fail.
func fullPort(t *testing.T) int {
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
	for range 16 { // until the queue is full
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp",
			net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		cancel()
		if err != nil {
			return port
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Skip("this system accepts every connection")
	return 0
}

func TestEmailClient_Send_Connect(t *testing.T) {
	t.Run("fails after DialTimeout", func(t *testing.T) {
		c := config(fullPort(t))
		c.DialTimeout = 200 * time.Millisecond
		err := newClient(t, c).Send(t.Context(), hello())
		if !errors.Is(err, email.ErrTimeout) || !errors.Is(err, email.ErrConnection) {
			t.Errorf("Send = %v, want ErrTimeout and ErrConnection", err)
		}
	})

	t.Run("fails when the context is done", func(t *testing.T) {
		client := newClient(t, config(fullPort(t)))
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := client.Send(ctx, hello()); !errors.Is(err, email.ErrTimeout) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Send = %v, want ErrTimeout and DeadlineExceeded", err)
		}
	})
}
