package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/tools/devstack/server"
)

func newGroup(t *testing.T) *server.Group {
	t.Helper()
	g, err := server.NewGroup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return g
}

// start starts a server, or skips the test if its kind is not installed.
func start(t *testing.T, g *server.Group, name string) *server.Server {
	t.Helper()
	kind, ok := server.ByName(name)
	if !ok {
		t.Fatalf("unknown kind %q", name)
	}
	s, err := g.Start(t.Context(), kind)
	if missing := (*server.Missing)(nil); errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func isClosed(t *testing.T, address string) bool {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err != nil
}

// exchange sends a message, if any, and returns the first n bytes of the response.
func exchange(t *testing.T, conn net.Conn, message string, n int) string {
	t.Helper()
	if _, err := io.WriteString(conn, message); err != nil {
		t.Fatal(err)
	}
	response := make([]byte, n)
	if _, err := io.ReadFull(conn, response); err != nil {
		t.Fatalf("response %q: %v", response, err)
	}
	return string(response)
}

// startup returns the startup message of a PostgreSQL client.
func startup() string {
	text := "\x00\x03\x00\x00user\x00postgres\x00database\x00plinth\x00\x00"
	return string(binary.BigEndian.AppendUint32(nil, uint32(4+len(text)))) + text
}

// checkResponds fails the test unless the server speaks its protocol and, if visible
// before login, requires a password. It returns the connection.
func checkResponds(t *testing.T, s *server.Server) net.Conn {
	t.Helper()
	conn := dial(t, s.Address())
	switch s.Kind().Name {
	case "postgres": // AuthenticationSASL
		if got := exchange(t, conn, startup(), 9); got[0] != 'R' || got[5:] != "\x00\x00\x00\x0a" {
			t.Errorf("response to the startup message = %q, want a request for SCRAM", got)
		}
	case "mysql": // protocol version 10
		if got := exchange(t, conn, "", 5); got[4] != 10 {
			t.Errorf("greeting starts with %q", got)
		}
	case "redis":
		if got := exchange(t, conn, "PING\r\n", 7); got != "-NOAUTH" {
			t.Errorf("response to PING without password = %q", got)
		}
	case "postfix":
		if got := exchange(t, conn, "", 4); got != "220 " {
			t.Errorf("greeting starts with %q", got)
		}
	}
	return conn
}

func TestServer_Start(t *testing.T) {
	for _, kind := range server.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			s := start(t, newGroup(t), kind.Name)
			address := s.Address()
			open := checkResponds(t, s)
			for _, action := range []struct {
				name string
				end  func(context.Context) error
			}{{"Kill", s.Kill}, {"Stop", s.Stop}, {"Kill", s.Kill}} {
				if err := action.end(t.Context()); err != nil {
					t.Fatalf("%s = %v", action.name, err)
				}
				if _, err := io.Copy(io.Discard, open); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("a connection is open after %s", action.name)
				}
				if !isClosed(t, address) {
					t.Errorf("the port is open after %s", action.name)
				}
				if err := s.Start(t.Context()); err != nil {
					t.Fatalf("Start after %s = %v", action.name, err)
				}
				if s.Address() != address {
					t.Errorf("the address is %s after %s, want %s",
						s.Address(), action.name, address)
				}
				open = checkResponds(t, s)
			}
		})
	}
}

func TestServer_Delete(t *testing.T) {
	g := newGroup(t)
	one, two := start(t, g, "redis"), start(t, g, "redis")
	if one.Address() == two.Address() || one.DSN() == two.DSN() {
		t.Errorf("both are at %s", one.Address())
	}
	if err := one.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !isClosed(t, one.Address()) {
		t.Error("a deleted server responds")
	}
	if err := one.Start(t.Context()); err == nil {
		t.Error("a deleted server was started")
	}
	checkResponds(t, two)
}

func TestGroup_Close(t *testing.T) {
	g, err := server.NewGroup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := server.ByName("redis")
	s, startErr := g.Start(t.Context(), kind)
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(g.CA())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory still exists: %v", err)
	}
	if missing := (*server.Missing)(nil); errors.As(startErr, &missing) {
		t.Skip(missing)
	}
	if startErr != nil {
		t.Fatal(startErr)
	}
	if !isClosed(t, s.Address()) {
		t.Error("a server responds after Close")
	}
	if _, err := g.Start(t.Context(), kind); err == nil {
		t.Error("a closed group started a server")
	}
}

// encrypt starts TLS in the protocol of each kind.
var encrypt = map[string]func(t *testing.T, conn net.Conn){
	"postgres": func(t *testing.T, conn net.Conn) { // SSLRequest
		if got := exchange(t, conn, "\x00\x00\x00\x08\x04\xd2\x16\x2f", 1); got != "S" {
			t.Fatalf("response to SSLRequest = %q", got)
		}
	},
	"mysql": func(t *testing.T, conn net.Conn) {
		head := exchange(t, conn, "", 4)
		exchange(t, conn, "", int(head[0])|int(head[1])<<8)
		// capabilities: protocol 4.1, SSL, secure connection; the largest packet; utf8mb4
		request := "\x20\x00\x00\x01" + "\x00\x8a\x00\x00" + "\x00\x00\x00\x01" + "\x2d" +
			strings.Repeat("\x00", 23)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
	},
}

func TestGroup_CA(t *testing.T) {
	for name, startTLS := range encrypt {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			s := start(t, g, name)
			pem, err := os.ReadFile(g.CA())
			roots := x509.NewCertPool()
			if err != nil || !roots.AppendCertsFromPEM(pem) {
				t.Fatalf("CA: %v", err)
			}
			for _, host := range []string{"127.0.0.1", "::1", "localhost"} {
				conn := dial(t, s.Address())
				startTLS(t, conn)
				client := tls.Client(conn, &tls.Config{
					RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12,
				})
				if err := client.HandshakeContext(t.Context()); err != nil {
					t.Errorf("host %s: %v", host, err)
				}
			}
			conn := dial(t, s.Address())
			startTLS(t, conn)
			other := tls.Client(conn, &tls.Config{
				RootCAs: roots, ServerName: "example.org", MinVersion: tls.VersionTLS12,
			})
			if err := other.HandshakeContext(t.Context()); err == nil {
				t.Error("the certificate is valid for example.org")
			}
		})
	}
}

func TestGroup_Start_Permissions(t *testing.T) {
	g := newGroup(t)
	start(t, g, "postgres")
	folders, err := filepath.Glob(filepath.Join(filepath.Dir(g.CA()), "postgres-*"))
	if err != nil || len(folders) < 2 {
		t.Fatalf("folders = %q, %v", folders, err)
	}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has the mode %v", folder, info.Mode())
		}
		if text, err := os.ReadFile(filepath.Join(folder, "password")); err == nil {
			t.Errorf("the password file still exists, %d bytes", len(bytes.TrimSpace(text)))
		}
	}
}

// respondsWithin reports whether the server responds to a new connection within the
// timeout.
func respondsWithin(t *testing.T, s *server.Server, timeout time.Duration) bool {
	t.Helper()
	conn := dial(t, s.Address())
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	switch s.Kind().Name {
	case "postgres":
		_, _ = io.WriteString(conn, startup())
	case "redis":
		_, _ = io.WriteString(conn, "PING\r\n")
	}
	_, err := io.ReadFull(conn, make([]byte, 1))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
	return err == nil
}

func TestServer_Pause(t *testing.T) {
	for _, kind := range server.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			s := start(t, newGroup(t), kind.Name)
			if err := s.Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			if respondsWithin(t, s, 300*time.Millisecond) {
				t.Error("a paused server responds")
			}
			for range 2 { // the second call has no effect
				if err := s.Continue(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if !respondsWithin(t, s, 20*time.Second) {
				t.Error("a server does not respond after Continue")
			}
			for _, action := range []struct {
				name string
				end  func(context.Context) error
			}{{"Stop", s.Stop}, {"Kill", s.Kill}} {
				if err := errors.Join(s.Pause(t.Context()), action.end(t.Context())); err != nil {
					t.Fatalf("%s of a paused server = %v", action.name, err)
				}
				if !isClosed(t, s.Address()) {
					t.Errorf("the port is open after %s", action.name)
				}
				if err := s.Pause(t.Context()); err == nil {
					t.Error("Pause of a stopped server succeeded")
				}
				if err := s.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestServer_TLSDSN(t *testing.T) {
	g := newGroup(t)
	s := start(t, g, "redis")
	if s.TLSDSN() == "" {
		t.Skip("redis-server was built without TLS")
	}
	u, err := url.Parse(s.TLSDSN())
	if err != nil || u.Scheme != "rediss" || u.Host == s.Address() {
		t.Fatalf("URL of scheme %q, host %q, %v", u.Scheme, u.Host, err)
	}
	pem, err := os.ReadFile(g.CA())
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("CA: %v", err)
	}
	conn := tls.Client(dial(t, u.Host), &tls.Config{
		RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12,
	})
	password, _ := u.User.Password()
	commands := "AUTH " + password + "\r\nACL SETUSER app on nopass ~app:* +@all\r\n"
	if got := exchange(t, conn, commands, 10); got != "+OK\r\n+OK\r\n" {
		t.Errorf("responses = %q", got)
	}
}
