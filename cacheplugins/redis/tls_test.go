package redis_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// certificate returns a self-signed certificate for 127.0.0.1 and its PEM file.
func certificate(tb testing.TB) (cert tls.Certificate, file string) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	file = filepath.Join(tb.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		0o600); err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// encrypted starts a TLS proxy for the server of a URL and returns its URL and CA file.
func encrypted(tb testing.TB, address string) (relayURL, ca string) {
	tb.Helper()
	cert, ca := certificate(tb)
	l, err := tls.Listen("tcp", "127.0.0.1:0",
		&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	if err != nil {
		tb.Fatal(err)
	}
	_, relayURL = relayFrom(tb, l, address)
	return strings.Replace(relayURL, "redis://", "rediss://", 1), ca
}

func TestTLS(t *testing.T) {
	t.Run("uses the configured mode", func(t *testing.T) {
		address, _ := server(t)
		relayURL, ca := encrypted(t, address)
		_, otherCA := certificate(t)
		fromParts := func(host, mode, ca string) driver.Config {
			c := parts(t, relayURL)
			c.Host, c.TLS, c.TLSCA = host, mode, ca
			return c
		}
		for name, c := range map[string]driver.Config{
			"URL":                   {URL: relayURL, TLSCA: ca},
			"URL and disable":       {URL: relayURL, TLS: "disable", TLSCA: ca},
			"URL and require":       {URL: relayURL, TLS: "require"},
			"verify-full":           fromParts("127.0.0.1", "verify-full", ca),
			"require":               fromParts("127.0.0.1", "require", ""),
			"require, another name": fromParts("localhost", "require", ""),
		} {
			t.Run(name, func(t *testing.T) {
				s := open(t, c)
				if _, err := s.Set(t.Context(), "tls:k", []byte(name), brief); err != nil {
					t.Fatal(err)
				}
				if got, ok, err := s.Get(t.Context(), "tls:k"); err != nil || !ok ||
					string(got) != name {
					t.Errorf("Get = %q, %t, %v", got, ok, err)
				}
				if d := s.(fmt.Stringer).String(); !strings.Contains(d, ", TLS ") {
					t.Errorf("String = %q, want the TLS mode", d)
				}
			})
		}
		for _, tc := range []struct {
			name   string
			config driver.Config
			want   string
		}{
			{
				name:   "system certificates",
				config: driver.Config{URL: relayURL}, want: "NOSQL_TLS, NOSQL_TLS_CA",
			},
			{
				name: "another certificate", config: fromParts("127.0.0.1", "verify-full", otherCA),
				want: "NOSQL_TLS, NOSQL_TLS_CA",
			},
			{
				name:   "another name",
				config: fromParts("localhost", "verify-full", ca), want: "NOSQL_TLS, NOSQL_HOST",
			},
		} {
			t.Run(tc.name, func(t *testing.T) { wantErrConfig(t, tc.config, tc.want) })
		}
	})

	// A server without TLS interprets the handshake as the start of a command and waits
	// for the rest.
	t.Run("reports a server without TLS", func(t *testing.T) {
		address, _ := server(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := redis.Driver{}.Open(ctx,
			driver.Config{URL: strings.Replace(address, "redis://", "rediss://", 1)})
		if err == nil || errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "timeout: TLS with ") {
			t.Errorf("Open = %v, want an error about TLS", err)
		}
	})

	// Cancellation works through TLS, and later calls do not read a stale reply.
	t.Run("aborts canceled calls", func(t *testing.T) {
		address, _ := server(t)
		relayURL, ca := encrypted(t, address)
		r, relayURL := newRelay(t, relayURL)
		s := open(t, driver.Config{URL: relayURL, TLSCA: ca})
		for name, call := range everyCall(s) {
			r.pause()
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(50*time.Millisecond, cancel)
			start := time.Now()
			if err := call(ctx); !errors.Is(err, context.Canceled) || time.Since(start) > maxDelay {
				t.Errorf("%s = %v after %s, want the context's error after 50 ms",
					name, err, time.Since(start))
			}
			timer.Stop()
			r.resume()
			if err := call(t.Context()); err != nil {
				t.Errorf("next %s: %v", name, err)
			}
		}
	})
}
