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

// wrappedListener is a listener with connections of its own type, like those of a limiter
// or of the PROXY protocol.
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
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // the path of a socket is short, and a test's folder has its name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skipf("no Unix sockets here: %v", err)
	}
	return l
}

// silent connects without sending, and returns when the server waits for data.
func silent(t *testing.T, l net.Listener) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	// the settings frame, which a server sends first
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
			for graceful, most := range map[time.Duration]time.Duration{
				time.Hour:             testTimeout,     // the alternative is an hour
				50 * time.Millisecond: 5 * time.Second, // then it is abandoned
			} {
				t.Run(tc.name+" "+graceful.String(), func(t *testing.T) {
					calltest.Record(t)
					l := tc.listen(t)
					s := serve(t, runner.WithListener(l), runner.WithGracefulStopTimeout(graceful),
						runner.WithServerOptions(grpc.ConnectionTimeout(time.Hour)))
					silent(t, l)
					started := time.Now()
					if err := s.stop(); err != nil {
						t.Error(err)
					}
					if took := time.Since(started); took >= most {
						t.Errorf("the shutdown took %s, want less than %s", took, most)
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
			if took := time.Since(started); took != time.Second {
				t.Errorf("the shutdown took %s, want 1s", took)
			}
			_ = conn.Close()
		})
	})
}

// fdCredentials are credentials that use the file descriptor of a connection, like those
// that query the peer from the kernel.
type fdCredentials struct {
	credentials.TransportCredentials
	reached chan<- bool
}

func (a fdCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	_, ok := conn.(syscall.Conn)
	a.reached <- ok
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
				t.Skip("its client is written for paths that begin with a slash")
			}
			calltest.Record(t)
			l := tc.listen(t)
			reached := make(chan bool, 10)
			serve(t, runner.WithListener(l),
				runner.WithCredentials(fdCredentials{insecure.NewCredentials(), reached}))
			target := l.Addr().String()
			if l.Addr().Network() == "unix" {
				target = "unix://" + target
			}
			call(t, pb.NewTestServiceClient(dial(t, target)), "hello")
			if got := <-reached; got != tc.want {
				t.Errorf("credentials found the socket: %t, want %t", got, tc.want)
			}
		})
	}
}
