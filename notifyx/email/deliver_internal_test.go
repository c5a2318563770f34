package email

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// script is a connection with scripted replies. Writes that contain failOn fail.
type script struct {
	net.Conn

	replies io.Reader
	failOn  string
	remote  net.Addr
	written bytes.Buffer
}

func (s *script) Read(p []byte) (int, error) { return s.replies.Read(p) }
func (*script) SetDeadline(time.Time) error  { return nil }
func (*script) Close() error                 { return nil }
func (s *script) RemoteAddr() net.Addr       { return s.remote }

func (s *script) Write(p []byte) (int, error) {
	if s.failOn != "" && bytes.Contains(p, []byte(s.failOn)) {
		return 0, syscall.ECONNRESET
	}
	return s.written.Write(p)
}

// newSession returns a session over a script, after the greeting.
func newSession(t *testing.T, conn *script) *session {
	t.Helper()
	s := &session{conn: &limitedConn{Conn: conn, ctx: context.Background()}}
	s.conn.startStep(time.Minute)
	var err error
	if s.client, err = smtp.NewClient(s.conn, "mail.example.com"); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSession_Content(t *testing.T) {
	for _, tc := range []struct {
		name   string
		failOn string
		want   bool
	}{
		{"everything sent", "", true},
		{"end not sent", "\r\n.\r\n", false},
		{"middle not sent", "middle", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSession(t, &script{
				replies: strings.NewReader("220 ready\r\n354 go on\r\n"),
				failOn:  tc.failOn,
			})
			filler := strings.Repeat("x", 6000)
			content := filler + "\r\nmiddle\r\n" + filler + "\r\n"
			err := s.content(Config{CommandTimeout: time.Minute, DataTimeout: time.Minute},
				&composed{content: []byte(content)})
			// errDropped makes use retry with a new connection
			if errors.Is(err, ErrUncertain) != tc.want || errors.Is(err, errDropped) == tc.want {
				t.Errorf("content = %v, want ErrUncertain: %t", err, tc.want)
			}
		})
	}
}

func TestSession_Login(t *testing.T) {
	for _, tc := range []struct {
		name   string
		remote net.Addr
		want   bool
	}{
		{"remote host", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 25}, false},
		{
			"remote host with IPv6",
			&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 25}, false,
		},
		{"unknown address", &net.UnixAddr{Name: "x"}, false},
		{"local host", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 25}, true},
		{"local host with IPv6", &net.TCPAddr{IP: net.IPv6loopback, Port: 25}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conn := &script{replies: strings.NewReader(
				"220 ready\r\n250-fine\r\n250 AUTH PLAIN\r\n235 fine\r\n"), remote: tc.remote}
			err := newSession(t, conn).login(Config{
				Host: "mail.example.com", User: "service", Pass: "hunter2",
				TLS: tlsNone, CommandTimeout: time.Minute,
			})
			if (err == nil) != tc.want || !tc.want && !errors.Is(err, ErrTLS) ||
				strings.Contains(conn.written.String(), "AUTH") != tc.want {
				t.Errorf("login = %v after %q", err, conn.written.String())
			}
		})
	}
}
