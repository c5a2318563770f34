package dbtest

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

var tlsCases = []testCase{
	{"TLS/encrypts according to the mode", testTLSModes},
	{"TLS/rejects an untrusted certificate", testTLSTrust},
	{"TLS/rejects a certificate for another host", testTLSHost},
	{"TLS/rejects bad settings", testTLSSettings},
	{"TLS/warns about plain text to another host", testTLSWarning},
}

// tls returns the TLS configuration of the harness, or skips the check.
func (s *suite) tls(tb testing.TB) TLS {
	if s.differs(DiffNoTLS) {
		tb.Skip("the database has no network")
	}
	if s.TLS == nil {
		tb.Fatalf("the harness has no TLS and does not declare %s", DiffNoTLS)
	}
	return *s.TLS
}

func (s *suite) withTLS(tb testing.TB, mode, ca string) xdb.Options {
	o := s.options(tb)
	o.Parts.TLS, o.Parts.TLSCA = mode, ca
	return o
}

func testTLSModes(tb testing.TB, s *suite) {
	server := s.tls(tb)
	modes := map[string]bool{"": false, driver.TLSDisable: false, driver.TLSRequire: true}
	if server.CA != "" {
		modes[driver.TLSVerifyFull] = true
	}
	for mode, want := range modes {
		ca := ""
		if mode == driver.TLSVerifyFull {
			ca = server.CA
		}
		db := s.openWith(tb, s.withTLS(tb, mode, ca))
		got, err := server.Encrypted(db)
		if err != nil || got != want {
			tb.Errorf("mode %q: encrypted = %t (%v), want %t", mode, got, err, want)
		}
	}
}

// wantRejected reports an error unless Open fails in time because of the certificate.
func (s *suite) wantRejected(tb testing.TB, what string, o xdb.Options) {
	o.ConnectTimeout = 2 * time.Second
	start := time.Now()
	db, err := s.registry.Open(s.ctx, o)
	if err == nil {
		tb.Errorf("%s: Open succeeded", what)
		check(tb, xdb.Close(db), "close")
		return
	}
	if elapsed := time.Since(start); elapsed > o.ConnectTimeout+time.Second {
		tb.Errorf("%s: Open returned after %s, want it within 1 s of %s",
			what, elapsed, o.ConnectTimeout)
	}
	if !strings.Contains(err.Error(), "certificate") {
		tb.Errorf("%s: error = %q, want one about the certificate", what, err)
	}
	if o.Parts.Pass != "" && strings.Contains(err.Error(), o.Parts.Pass) {
		tb.Errorf("%s: the error contains the password", what)
	}
	s.noSecret(tb, o.Parts)
}

func testTLSTrust(tb testing.TB, s *suite) {
	if s.tls(tb).CA == "" {
		tb.Skip("the CA of the server is unknown")
	}
	s.wantRejected(tb, "the certificates of the system", s.withTLS(tb, driver.TLSVerifyFull, ""))
	s.wantRejected(tb, "another certificate",
		s.withTLS(tb, driver.TLSVerifyFull, writePEM(tb, otherPEM())))
}

// testTLSHost connects to an address that the certificate of the server does not cover.
func testTLSHost(tb testing.TB, s *suite) {
	server := s.tls(tb)
	if server.CA == "" {
		tb.Skip("the CA of the server is unknown")
	}
	o := s.withTLS(tb, driver.TLSVerifyFull, server.CA)
	if runtime.GOOS != "linux" {
		tb.Skip("127.0.0.2 is a loopback address on Linux only")
	}
	r := startRelay(tb, o.Parts, "127.0.0.2:0")
	o.Parts = throughRelay(tb, r, o.Parts)
	s.wantRejected(tb, "another address", o)

	o.Parts.TLS, o.Parts.TLSCA = driver.TLSRequire, "" // the connection itself works
	s.openWith(tb, o)
}

func testTLSSettings(tb testing.TB, s *suite) {
	s.tls(tb)
	parts := s.Config(tb)
	parts.Pass = secretValue
	missing := filepath.Join(tb.TempDir(), "no-such.pem")
	for _, bad := range []struct {
		name     string
		mode, ca string
		want     xenv.EnvKey
	}{
		{"unknown mode", "prefer", "", xenv.DatabaseTLS},
		{"wrong case", "Require", "", xenv.DatabaseTLS},
		{"missing file", driver.TLSVerifyFull, missing, xenv.DatabaseTLSCA},
		{
			"file without a certificate",
			driver.TLSVerifyFull, writePEM(tb, []byte("no certificate")), xenv.DatabaseTLSCA,
		},
		{
			"unused file",
			driver.TLSRequire, writePEM(tb, otherPEM()), xenv.DatabaseTLSCA,
		},
	} {
		parts.TLS, parts.TLSCA = bad.mode, bad.ca
		_, err := s.Driver.DSN(parts)
		if err == nil || !strings.Contains(err.Error(), string(bad.want)+":") ||
			strings.Contains(err.Error(), secretValue) {
			tb.Errorf("%s: DSN = %v, want an error that names %s without the password",
				bad.name, err, bad.want)
		}
	}
}

func testTLSWarning(tb testing.TB, s *suite) {
	s.tls(tb)
	parts := s.Config(tb)
	parts.Pass = secretValue
	for _, tc := range []struct {
		host, mode string
		want       bool
	}{
		{"db.example.com", "", true},
		{"db.example.com", driver.TLSDisable, false}, // chosen explicitly
		{"db.example.com", driver.TLSRequire, false},
		{"localhost", "", false},
		{"127.0.0.1", "", false},
	} {
		parts.Host, parts.TLS, parts.TLSCA = tc.host, tc.mode, ""
		advice := strings.Join(s.Driver.Advice(parts), "\n")
		if got := strings.Contains(advice, string(xenv.DatabaseTLS)); got != tc.want ||
			strings.Contains(advice, secretValue) {
			tb.Errorf("advice for the mode %q to %s = %q; contains %s: %t, want %t",
				tc.mode, tc.host, advice, xenv.DatabaseTLS, got, tc.want)
		}
	}
}

// otherPEM returns a certificate that did not sign the certificate of any tested server.
func otherPEM() []byte {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func writePEM(tb testing.TB, data []byte) string {
	name := filepath.Join(tb.TempDir(), "ca.pem")
	check(tb, os.WriteFile(name, data, 0o600), "write")
	return name
}
