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

// wrapping is a listener whose connections are of a type of its own, as those of a limit
// or of the PROXY protocol are.
type wrapping struct{ net.Listener }

func (w wrapping) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{conn}, nil
}

// unixSocket listens on a socket in a folder with a short name.
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

// silent connects and says nothing; it returns when the server waits for the first word.
func silent(t *testing.T, l net.Listener) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	// of the settings, which a server sends first
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func TestSilentPeerDoesNotHoldUpTheStopOverAnyListener(t *testing.T) {
	for _, tc := range []struct {
		name   string
		listen func(t *testing.T) net.Listener
	}{
		{name: "TCP", listen: listen},
		{name: "Unix socket", listen: unixSocket},
		{name: "wrapped TCP", listen: func(t *testing.T) net.Listener {
			t.Helper()
			return wrapping{listen(t)}
		}},
	} {
		for graceful, most := range map[time.Duration]time.Duration{
			time.Hour:             patience,        // or else an hour
			50 * time.Millisecond: 5 * time.Second, // or else it is given up after that
		} {
			t.Run(tc.name+" "+graceful.String(), func(t *testing.T) {
				calltest.Record(t)
				l := tc.listen(t)
				s := serve(t, runner.WithListener(l), runner.WithGracefulStopTimeout(graceful),
					runner.WithServerOptions(grpc.ConnectionTimeout(time.Hour)))
				silent(t, l)
				began := time.Now()
				if err := s.stop(); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took >= most {
					t.Errorf("the stop took %s, want less than %s", took, most)
				}
			})
		}
	}
}

func TestSilentPeerIsGivenASecond(t *testing.T) {
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
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("the stop took %s, want 1s", took)
		}
		_ = conn.Close()
	})
}

// asking is credentials that ask a connection for its file descriptor, as those do that
// ask the kernel for the peer.
type asking struct {
	credentials.TransportCredentials
	reached chan<- bool
}

func (a asking) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	_, ok := conn.(syscall.Conn)
	a.reached <- ok
	return a.TransportCredentials.ServerHandshake(conn)
}

func (a asking) Clone() credentials.TransportCredentials { return a }

func TestCredentialsReachTheSocketWhereThereIsOne(t *testing.T) {
	for _, tc := range []struct {
		name   string
		listen func(t *testing.T) net.Listener
		want   bool
	}{
		{name: "TCP", listen: listen, want: true},
		{name: "Unix socket", listen: unixSocket, want: true},
		{name: "wrapped TCP", listen: func(t *testing.T) net.Listener {
			t.Helper()
			return wrapping{listen(t)}
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
				runner.WithCredentials(asking{insecure.NewCredentials(), reached}))
			target := l.Addr().String()
			if l.Addr().Network() == "unix" {
				target = "unix://" + target
			}
			call(t, pb.NewTestServiceClient(dial(t, target)), "hello")
			if got := <-reached; got != tc.want {
				t.Errorf("the socket is reached: %t, want %t", got, tc.want)
			}
		})
	}
}
