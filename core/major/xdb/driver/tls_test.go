package driver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// caFile writes a self-signed certificate to a file and returns its path.
func caFile(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestConfig_TLSMode(t *testing.T) {
	ca := caFile(t)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		config driver.Config
		mode   string
		want   string // of the error; "" means no error
	}{
		{name: "nothing", mode: driver.TLSDisable},
		{name: "require", config: driver.Config{TLS: "require"}, mode: driver.TLSRequire},
		{
			name: "verify-full", config: driver.Config{TLS: "verify-full"},
			mode: driver.TLSVerifyFull,
		},
		{
			name: "verify-full with a CA", config: driver.Config{TLS: "verify-full", TLSCA: ca},
			mode: driver.TLSVerifyFull,
		},
		{name: "an unknown mode", config: driver.Config{TLS: "prefer"}, want: "DATABASE_TLS"},
		{
			name:   "a CA that the mode does not use",
			config: driver.Config{TLS: "require", TLSCA: ca}, want: "DATABASE_TLS_CA",
		},
		{name: "a CA without a mode", config: driver.Config{TLSCA: ca}, want: "DATABASE_TLS_CA"},
		{
			name: "no file", config: driver.Config{TLS: "verify-full", TLSCA: ca + "x"},
			want: "DATABASE_TLS_CA",
		},
		{
			name: "no PEM", config: driver.Config{TLS: "verify-full", TLSCA: text},
			want: "DATABASE_TLS_CA",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mode, err := tc.config.TLSMode()
			if mode != tc.mode || (err == nil) != (tc.want == "") {
				t.Fatalf("TLSMode = %q, %v; want %q and an error about %q",
					mode, err, tc.mode, tc.want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), tc.want+":") {
				t.Errorf("error = %v, want an error about %s", err, tc.want)
			}
		})
	}
}

func TestTLSConfig(t *testing.T) {
	ca := caFile(t)
	for _, tc := range []struct {
		name, mode, ca      string
		encrypted, verifies bool
		roots               bool
	}{
		{name: "disable", mode: driver.TLSDisable},
		{name: "require", mode: driver.TLSRequire, encrypted: true},
		{name: "verify-full", mode: driver.TLSVerifyFull, encrypted: true, verifies: true},
		{
			name: "verify-full with a CA", mode: driver.TLSVerifyFull, ca: ca,
			encrypted: true, verifies: true, roots: true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config, err := driver.TLSConfig(tc.mode, tc.ca, "db.example.org")
			if err != nil || (config != nil) != tc.encrypted {
				t.Fatalf("TLSConfig = %v, %v", config, err)
			}
			if config == nil {
				return
			}
			if config.InsecureSkipVerify == tc.verifies || (config.RootCAs != nil) != tc.roots {
				t.Errorf("InsecureSkipVerify = %t, RootCAs = %v",
					config.InsecureSkipVerify, config.RootCAs)
			}
			if config.ServerName != "db.example.org" || config.MinVersion < tls.VersionTLS12 {
				t.Errorf("ServerName = %q, MinVersion = %x", config.ServerName, config.MinVersion)
			}
		})
	}
	if _, err := driver.TLSConfig(driver.TLSVerifyFull, ca+"x", "h"); err == nil {
		t.Error("TLSConfig succeeded without the CA file")
	}
}
