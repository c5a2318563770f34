package runner_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// wrappedListener is a listener whose connections hide their type, like those of a rate
// limiter or of the PROXY protocol.
type wrappedListener struct{ net.Listener }

func (w wrappedListener) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{conn}, nil
}

// unixSocket listens on a Unix socket with a short path.
func unixSocket(t *testing.T) net.Listener {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skipf("Unix sockets are not supported: %v", err)
	}
	return l
}

// connectSilently connects without sending data. It returns when the server waits for
// data.
func connectSilently(t *testing.T, l net.Listener) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	// The server sends its settings frame first.
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func TestServe_SilentConnections(t *testing.T) {
	t.Run("do not delay shutdown", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			listen func(t *testing.T) net.Listener
		}{
			{name: "TCP", listen: listen},
			{name: "Unix socket", listen: unixSocket},
			{name: "wrapped TCP", listen: func(t *testing.T) net.Listener {
				t.Helper()
				return wrappedListener{listen(t)}
			}},
		} {
			for graceful, limit := range map[time.Duration]time.Duration{
				time.Hour:             testTimeout,
				50 * time.Millisecond: 5 * time.Second,
			} {
				t.Run(tc.name+" "+graceful.String(), func(t *testing.T) {
					calltest.Record(t)
					l := tc.listen(t)
					s := serve(t, runner.WithListener(l), runner.WithGracefulStopTimeout(graceful),
						runner.WithServerOptions(grpc.ConnectionTimeout(time.Hour)))
					connectSilently(t, l)
					started := time.Now()
					if err := s.stop(); err != nil {
						t.Error(err)
					}
					if elapsed := time.Since(started); elapsed >= limit {
						t.Errorf("the shutdown took %s, want less than %s", elapsed, limit)
					}
				})
			}
		}
	})

	t.Run("have one second for their handshake", func(t *testing.T) {
		calltest.Record(t)
		synctest.Test(t, func(t *testing.T) {
			l := bufconn.Listen(1 << 20)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- runner.Serve(ctx, runner.WithListener(l)) }()
			conn, err := l.DialContext(ctx)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			started := time.Now()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if elapsed := time.Since(started); elapsed != time.Second {
				t.Errorf("the shutdown took %s, want 1s", elapsed)
			}
			_ = conn.Close()
		})
	})
}

// fdCredentials are credentials that use the file descriptor of a connection, for example
// to query the peer from the kernel.
type fdCredentials struct {
	credentials.TransportCredentials
	isSocket chan<- bool
}

func (a fdCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	_, ok := conn.(syscall.Conn)
	a.isSocket <- ok
	return a.TransportCredentials.ServerHandshake(conn)
}

func (a fdCredentials) Clone() credentials.TransportCredentials { return a }

func TestWithCredentials_Socket(t *testing.T) {
	for _, tc := range []struct {
		name   string
		listen func(t *testing.T) net.Listener
		want   bool
	}{
		{name: "TCP", listen: listen, want: true},
		{name: "Unix socket", listen: unixSocket, want: true},
		{name: "wrapped TCP", listen: func(t *testing.T) net.Listener {
			t.Helper()
			return wrappedListener{listen(t)}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "Unix socket" && runtime.GOOS == "windows" {
				t.Skip("the client requires a path that starts with a slash")
			}
			calltest.Record(t)
			l := tc.listen(t)
			isSocket := make(chan bool, 10)
			serve(t, runner.WithListener(l),
				runner.WithCredentials(fdCredentials{insecure.NewCredentials(), isSocket}))
			target := l.Addr().String()
			if l.Addr().Network() == "unix" {
				target = "unix://" + target
			}
			call(t, pb.NewTestServiceClient(dial(t, target)), "hello")
			if got := <-isSocket; got != tc.want {
				t.Errorf("the connection is a syscall.Conn: %t, want %t", got, tc.want)
			}
		})
	}
}
