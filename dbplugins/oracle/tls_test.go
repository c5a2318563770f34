package oracle_test

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// certificate returns a certificate for 127.0.0.1 and the file of its authority.
func certificate(tb testing.TB) (tls.Certificate, string) {
	tb.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	file := filepath.Join(tb.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	return server.TLS.Certificates[0], file
}

// encrypted is a connection whose first bytes have already been read.
type encrypted struct {
	net.Conn

	head []byte
}

// Read implements net.Conn. It returns those bytes first.
func (c *encrypted) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

func TestOpen_TLS(t *testing.T) {
	cert, ca := certificate(t)
	l := listen(t, "127.0.0.1:0", func(c net.Conn, head []byte) {
		if len(head) == 0 || head[0] != tlsHandshake {
			return
		}
		inner := tls.Server(&encrypted{Conn: c, head: head},
			&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
		if packet := readPacket(inner); packet != nil {
			refuse(12514)(inner, packet)
		}
	})
	for _, tc := range []struct {
		name     string
		mode, ca string
		host     string
		want     string // in the error; ORA-12514 means that the client reached the listener
	}{
		{name: "require", mode: driver.TLSRequire, want: "ORA-12514"},
		{name: "verify-full with the CA", mode: driver.TLSVerifyFull, ca: ca, want: "ORA-12514"},
		{
			name: "verify-full with the system's certificates",
			mode: driver.TLSVerifyFull, want: "certificate",
		},
		{
			name: "verify-full with another host",
			mode: driver.TLSVerifyFull, ca: ca, host: "localhost",
			want: "certificate",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts := l.parts(t)
			parts.TLS, parts.TLSCA = tc.mode, tc.ca
			if tc.host != "" {
				parts.Host = tc.host
			}
			err := open(testContext(t), parts, -1)
			if err == nil || !strings.Contains(fmt.Sprint(err), tc.want) {
				t.Errorf("Open = %v, want %q", err, tc.want)
			}
		})
	}
}
