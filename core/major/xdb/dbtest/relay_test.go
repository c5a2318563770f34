package dbtest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/major/xdb/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// echo is a server that sends back what it gets.
func echo(t *testing.T) driver.Config {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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
	return partsOf(t, listener.Addr().String())
}

func partsOf(t *testing.T, address string) driver.Config {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return driver.Config{Host: host, Port: number, User: "u"}
}

func dial(c driver.Config) (net.Conn, error) {
	address := net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", address)
}

// answers reports whether what is written to conn comes back.
func answers(t *testing.T, conn net.Conn) bool {
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

func reach(t *testing.T, c driver.Config) net.Conn {
	t.Helper()
	conn, err := dial(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if !answers(t, conn) {
		t.Fatal("nothing comes back")
	}
	return conn
}

func TestCutOffBreaksRefusesAndHeals(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("outage", func(t *testing.T) {
		server := echo(t)
		outage := dbtest.CutOff(t, server)
		if outage.Config.Port == server.Port || outage.Config.User != server.User {
			t.Errorf("parts = %v, want those of the server with another port", outage.Config)
		}
		open := []net.Conn{reach(t, outage.Config), reach(t, outage.Config)}
		for range 2 {
			if err := outage.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		for _, conn := range open {
			if answers(t, conn) {
				t.Error("a connection has outlived the cut")
			}
		}
		if conn, err := dial(outage.Config); err == nil {
			t.Errorf("connected to %v during the cut", conn.RemoteAddr())
		}
		reach(t, server) // which has noticed nothing
		if err := outage.Start(); err != nil {
			t.Fatal(err)
		}
		reach(t, outage.Config)
	})
}

func TestCutOffOfAServerThatIsGoneClosesItsClients(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("outage", func(t *testing.T) {
		outage := dbtest.CutOff(t, driver.Config{Host: "127.0.0.1", Port: 1})
		conn, err := dial(outage.Config)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if answers(t, conn) {
			t.Error("an answer of a server that is not there")
		}
	})
}

func TestSilentNetworkLetsNothingThroughUntilItSpeaks(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("silence", func(t *testing.T) {
		parts, silence, speak := dbtest.Silence(t, echo(t))
		old := reach(t, parts)
		for range 2 {
			silence()
			fresh, err := dial(parts)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = fresh.Close() }()
			for _, conn := range []net.Conn{old, fresh} {
				if _, err := conn.Write([]byte("lost")); err != nil {
					t.Fatalf("the connection is broken, not silent: %v", err)
				}
				if err := conn.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
					t.Fatal(err)
				}
				var timeout net.Error
				if _, err := conn.Read(make([]byte, 4)); !errors.As(err, &timeout) || !timeout.Timeout() {
					t.Fatalf("read = %v, want a timeout", err)
				}
			}
			speak()
			speak()
			late := make([]byte, 4)
			if err := old.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(old, late); err != nil || string(late) != "lost" {
				t.Fatalf("after the silence = %q, %v", late, err)
			}
		}
		silence() // the end of the test ends it
	})
}
