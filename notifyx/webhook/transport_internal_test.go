package webhook

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

func TestWriteFirstConn(t *testing.T) {
	t.Run("blocks reads before the first write", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			conn := newWriteFirstConn(ours)
			go func() { _, _ = theirs.Write([]byte("unsolicited")) }()
			read := make(chan int, 1)
			go func() {
				n, _ := conn.Read(make([]byte, 100))
				read <- n
			}()
			synctest.Wait()
			if len(read) != 0 {
				t.Error("read before the first Write")
			}
			go func() { _, _ = conn.Write([]byte("request")) }()
			if n := <-read; n != len("unsolicited") {
				t.Errorf("%d bytes after the first Write", n)
			}
			_, _ = conn.Close(), theirs.Close()
		})
	})

	t.Run("unblocks a read on Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			conn := newWriteFirstConn(ours)
			read := make(chan error, 1)
			go func() {
				_, err := conn.Read(make([]byte, 100))
				read <- err
			}()
			synctest.Wait()
			_ = conn.Close()
			if err := <-read; err == nil {
				t.Error("no error after Close")
			}
		})
	})
}

func TestNewTransport(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	c := defaults()
	c.roots = x509.NewCertPool()
	c.roots.AddCert(s.Certificate())
	transport := newTransport(&c, guard{allowed: loopback})
	for name, dial := range map[string]func() (net.Conn, error){
		"http": func() (net.Conn, error) {
			return transport.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "https://"))
		},
		"https": func() (net.Conn, error) {
			return transport.DialTLSContext(t.Context(), "tcp",
				strings.TrimPrefix(s.URL, "https://"))
		},
	} {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := conn.(*writeFirstConn); !ok {
			t.Errorf("%s: %T", name, conn)
		}
		_ = conn.Close()
	}
}
