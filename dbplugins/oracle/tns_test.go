package oracle_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/oracle"
)

const (
	secret = "hunter2-unique"

	tlsHandshake = 0x16 // first byte of a TLS handshake
)

// listener is a test double of an Oracle listener. It responds to a connect packet only.
type listener struct {
	net.Listener

	mu      sync.Mutex
	packets [][]byte
	conns   []net.Conn
	running sync.WaitGroup
}

// listen starts a double at an address. It calls serve with each connection and its first
// packet, and then closes the connection.
func listen(tb testing.TB, address string, serve func(c net.Conn, packet []byte)) *listener {
	tb.Helper()
	inner, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	l := &listener{Listener: inner}
	l.running.Go(func() {
		for {
			c, err := inner.Accept()
			if err != nil {
				return
			}
			l.mu.Lock()
			l.conns = append(l.conns, c)
			l.mu.Unlock()
			l.running.Go(func() {
				defer func() { _ = c.Close() }()
				packet := readPacket(c)
				l.mu.Lock()
				l.packets = append(l.packets, packet)
				l.mu.Unlock()
				serve(c, packet)
			})
		}
	})
	tb.Cleanup(l.stop)
	return l
}

func (l *listener) stop() {
	_ = l.Close()
	l.mu.Lock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
}

func (l *listener) parts(tb testing.TB) driver.Config {
	tb.Helper()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		tb.Fatalf("address = %T", l.Addr())
	}
	return driver.Config{
		Host: "127.0.0.1", Port: addr.Port, User: "app", Pass: secret,
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "FREEPDB1"},
	}
}

func readPacket(c net.Conn) []byte {
	head := make([]byte, 8)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil
	}
	if head[0] == tlsHandshake {
		return head
	}
	packet := make([]byte, max(int(binary.BigEndian.Uint16(head)), len(head)))
	_, _ = io.ReadFull(c, packet[copy(packet, head):])
	return packet
}

// refuse responds with a refuse packet.
func refuse(code int) func(net.Conn, []byte) {
	return func(c net.Conn, _ []byte) {
		text := fmt.Sprintf("(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=%d)"+
			"(ERROR_STACK=(ERROR=(CODE=%d)(EMFI=4))))", code, code)
		if code == 0 {
			text = ""
		}
		packet := make([]byte, 12, 12+len(text))
		binary.BigEndian.PutUint16(packet, uint16(12+len(text)))
		packet[4], packet[8] = 4, 34
		binary.BigEndian.PutUint16(packet[10:], uint16(len(text)))
		_, _ = c.Write(append(packet, text...))
	}
}

// hang does not respond until the client closes the connection.
func hang(c net.Conn, _ []byte) { _, _ = io.Copy(io.Discard, c) }

// respond responds with text and then waits until the client closes the connection.
func respond(text string) func(net.Conn, []byte) {
	return func(c net.Conn, packet []byte) {
		_, _ = io.WriteString(c, text)
		hang(c, packet)
	}
}

func open(ctx context.Context, parts driver.Config, timeout time.Duration) error {
	r := &xdb.Registry{}
	r.Register(oracle.Driver{})
	db, err := r.Open(ctx, xdb.Options{Driver: oracle.Name, Parts: parts, ConnectTimeout: timeout})
	return errors.Join(err, xdb.Close(db))
}

func TestOpen_ListenerErrors(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, tc := range []struct {
		name  string
		serve func(net.Conn, []byte)
		want  driver.ErrorKind
	}{
		{name: "unknown service", serve: refuse(12514), want: driver.Connection},
		{name: "unknown SID", serve: refuse(12505), want: driver.Connection},
		{name: "starting database", serve: refuse(12528), want: driver.Connection},
		{name: "no handler", serve: refuse(12516), want: driver.Connection},
		{name: "too many sessions", serve: refuse(12520), want: driver.Connection},
		{name: "refused without a reason", serve: refuse(0), want: driver.Connection},
		{name: "closed", serve: func(net.Conn, []byte) {}, want: driver.Connection},
		{
			name:  "short refuse packet",
			serve: respond("\x00\x09\x00\x00\x04\x00\x00\x00\x00"), want: driver.Connection,
		},
		{
			name:  "short accept packet",
			serve: respond("\x00\x0b\x00\x00\x02\x00\x00\x00\x01\x01\x01"), want: driver.Connection,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := listen(t, "127.0.0.1:0", tc.serve)
			start := time.Now()
			err := open(testContext(t), l.parts(t), -1)
			if got := kindOfError(err); got != tc.want {
				t.Errorf("kind of %v (%T) = %v, want %v", err, err, got, tc.want)
			}
			if elapsed := time.Since(start); elapsed > 15*time.Second {
				t.Errorf("Open returned after %s", elapsed)
			}
			if strings.Contains(fmt.Sprint(err), secret) {
				t.Errorf("the error contains the password: %v", err)
			}
			l.stop()
		})
	}
}

func kindOfError(err error) driver.ErrorKind {
	if kind := driver.KindOf(err); kind != driver.Unknown {
		return kind
	}
	return oracle.Driver{}.ErrorKind(err)
}

func TestOpen_Cancellation(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, tc := range []struct {
		name  string
		serve func(net.Conn, []byte)
	}{
		{name: "no response", serve: hang},
		{name: "incomplete packet", serve: respond("\x00\xff\x00\x00\x02")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := listen(t, "127.0.0.1:0", tc.serve)
			ctx, cancel := context.WithTimeout(testContext(t), 150*time.Millisecond)
			defer cancel()
			start := time.Now()
			err := open(ctx, l.parts(t), 30*time.Second)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Open = %v, want the context's error", err)
			}
			if elapsed := time.Since(start); elapsed > 15*time.Second {
				t.Errorf("Open took %s", elapsed)
			}
			if strings.Contains(fmt.Sprint(err), secret) {
				t.Errorf("the error contains the password: %v", err)
			}
			l.stop()
		})
	}
}

// The pool may also open connections with a context that has no deadline.
func TestConnector_LoginTimeout(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l := listen(t, "127.0.0.1:0", hang)
	dsn, err := oracle.Driver{}.DSN(l.parts(t))
	if err != nil {
		t.Fatal(err)
	}
	connector, err := oracle.Connector(dsn, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := connector.Connect(context.Background())
		done <- err
	}()
	select {
	case err := <-done:
		if kindOfError(err) != driver.Connection || !strings.Contains(err.Error(), "login") ||
			errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Connect = %v, want a connection error about the login timeout", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("Connect has not returned after 20 s")
	}
	l.stop()
}

// A retry cannot succeed if the server uses another protocol. go-ora would allocate as
// many bytes as a length field contains.
func TestOpen_OtherProtocol(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, text := range []string{
		"HTTP/1.1 400 Bad Request\r\n\r\n", strings.Repeat("\x00", 64),
		"SSH-2.0-OpenSSH_9.2\r\n", "\x00\x08\x00\x00\x04\x00\x00\x00",
	} {
		l := listen(t, "127.0.0.1:0", respond(text))
		start := time.Now()
		err := open(testContext(t), l.parts(t), 20*time.Second)
		if err == nil || !strings.Contains(err.Error(), "not an Oracle listener") ||
			time.Since(start) > 10*time.Second {
			t.Errorf("%.8q: Open = %v after %s, want an error about the listener",
				text, err, time.Since(start))
		}
		l.stop()
	}
}

func TestOpen_Retry(t *testing.T) {
	first := listen(t, "127.0.0.1:0", refuse(12514))
	parts := first.parts(t)
	address := first.Addr().String()
	first.stop()
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- open(ctx, parts, 20*time.Second) }()
	reached := make(chan struct{}, 16)
	second := listen(t, address, func(c net.Conn, p []byte) {
		reached <- struct{}{}
		refuse(12514)(c, p)
	})
	for range 2 {
		select {
		case <-reached:
		case err := <-done:
			t.Fatalf("Open = %v, want a retry", err)
		case <-time.After(10 * time.Second):
			t.Fatal("Open did not retry")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v, want the context's error", err)
	}
	second.stop()
}

func TestOpen_ConnectionRefused(t *testing.T) {
	l := listen(t, "127.0.0.1:0", hang)
	parts := l.parts(t)
	l.stop()
	err := open(testContext(t), parts, -1)
	if kindOfError(err) != driver.Connection ||
		xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
		t.Errorf("Open = %v (%T), want a connection error", err, err)
	}
}

func TestOpen_ConnectPacket(t *testing.T) {
	l := listen(t, "127.0.0.1:0", refuse(12514))
	_ = open(testContext(t), l.parts(t), -1)
	l.stop()
	if len(l.packets) == 0 || !bytes.Contains(l.packets[0], []byte("(SERVICE_NAME=FREEPDB1)")) {
		t.Fatalf("packets = %q, want one with the service", l.packets)
	}
	if bytes.Contains(bytes.Join(l.packets, nil), []byte(secret)) {
		t.Error("a packet contains the password")
	}
}
