package testserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/conformance/testserver"
)

const localAddress = "127.0.0.1:0"

// echo starts a server that returns all received bytes.
func echo(t *testing.T) (address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", localAddress)
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			done.Go(func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		done.Wait()
	})
	return listener.Addr().String()
}

func dial(address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", address)
}

// echoes reports whether conn returns the bytes that are written to it.
func echoes(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return false
	}
	got := make([]byte, 4)
	if _, err := conn.Write([]byte("ping")); err != nil {
		return false
	}
	_, err := io.ReadFull(conn, got)
	return err == nil && string(got) == "ping"
}

// dialEcho connects to an echo server and checks that it echoes.
func dialEcho(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if !echoes(t, conn) {
		t.Fatal("the server does not echo")
	}
	return conn
}

func TestRelay_Stop(t *testing.T) {
	t.Run("closes connections and rejects new ones", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		t.Run("outage", func(t *testing.T) {
			server := echo(t)
			r := testserver.StartRelay(t, server, localAddress)
			address := r.Address()
			open := []net.Conn{dialEcho(t, address), dialEcho(t, address)}
			for range 2 {
				if err := r.Stop(); err != nil {
					t.Fatal(err)
				}
			}
			for _, conn := range open {
				if echoes(t, conn) {
					t.Error("a connection is open after Stop")
				}
			}
			if conn, err := dial(address); err == nil {
				t.Errorf("connected to %v after Stop", conn.RemoteAddr())
			}
			dialEcho(t, server) // the server is unaffected
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			dialEcho(t, address)
		})
	})
}

func TestRelay_UnavailableServer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("outage", func(t *testing.T) {
		conn, err := dial(testserver.StartRelay(t, "127.0.0.1:1", localAddress).Address())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if echoes(t, conn) {
			t.Error("received a response without a server")
		}
	})
}

// wantSilence checks that conn is open and returns no bytes.
func wantSilence(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Write([]byte("lost")); err != nil {
		t.Fatalf("write = %v, want a silent connection", err)
	}
	if err := conn.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := conn.Read(make([]byte, 4)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("read = %v, want a timeout", err)
	}
}

func TestRelay_Silence(t *testing.T) {
	t.Run("stops copying until Unblock", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		t.Run("silence", func(t *testing.T) {
			r := testserver.StartRelay(t, echo(t), localAddress)
			old := dialEcho(t, r.Address())
			for range 2 {
				r.Block()
				newConn, err := dial(r.Address())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = newConn.Close() }()
				wantSilence(t, old)
				wantSilence(t, newConn)
				r.Unblock()
				r.Unblock()
				got := make([]byte, 4)
				if err := old.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(old, got); err != nil || string(got) != "lost" {
					t.Fatalf("bytes after Unblock = %q, %v; want lost", got, err)
				}
			}
			r.Block() // the cleanup of StartRelay calls Unblock
		})
	})

	t.Run("closes connections at Stop", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		t.Run("silence", func(t *testing.T) {
			r := testserver.StartRelay(t, echo(t), localAddress)
			conn := dialEcho(t, r.Address())
			r.Block()
			wantSilence(t, conn)
			if err := r.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
			var timeout net.Error
			n, err := conn.Read(make([]byte, 4))
			if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
				t.Errorf("read = %d, %v; want a broken connection", n, err)
			}
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			dialEcho(t, r.Address())
		})
	})
}

func TestRelay_Start(t *testing.T) {
	r := testserver.StartRelay(t, "127.0.0.1:1", localAddress)
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", r.Address())
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { _ = other.Close() })
	if err := r.Start(); err != nil {
		t.Errorf("Start while another process holds the port = %v, want it to wait", err)
	}
}
