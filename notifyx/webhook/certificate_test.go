package webhook_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

// serveCertificate starts a server with a self-signed certificate from template, and
// returns a pool that contains it.
func serveCertificate(t *testing.T, template *x509.Certificate) (url string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.IsCA, template.BasicConstraintsValid = big.NewInt(1), true, true
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLS = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	pool = x509.NewCertPool()
	pool.AddCert(leaf)
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1), pool
}

func TestClient_Send_Certificate(t *testing.T) {
	now := time.Now()
	hostileCert := func(until time.Time, usage ...x509.ExtKeyUsage) *x509.Certificate {
		return &x509.Certificate{
			Subject: pkix.Name{
				CommonName:   secretResponse + "\nlevel=error",
				Organization: []string{secretResponse + "\n"},
			},
			DNSNames:  []string{secretResponse + "\nlevel=error msg=forged"},
			NotBefore: now.Add(-48 * time.Hour), NotAfter: until, ExtKeyUsage: usage,
		}
	}
	for _, c := range []struct {
		name     string
		template *x509.Certificate
		trusted  bool
		want     string
	}{
		{
			"another name", hostileCert(now.Add(time.Hour)), true,
			"the certificate is for another host",
		},
		{
			"an unknown authority",
			hostileCert(now.Add(time.Hour)), false,
			"the certificate is signed by an unknown authority",
		},
		{
			"expired", hostileCert(now.Add(-time.Hour)), true,
			"the certificate is expired or not valid yet",
		},
		{
			"not for servers", hostileCert(now.Add(time.Hour), x509.ExtKeyUsageClientAuth), true,
			"the certificate is not valid",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "another name" {
				c.template.DNSNames = append(c.template.DNSNames, "localhost")
			}
			url, pool := serveCertificate(t, c.template)
			if !c.trusted {
				pool = x509.NewCertPool()
			}
			_, err := newClient(t, webhook.WithRootCAs(pool)).Send(t.Context(), endpoint(url),
				webhook.Event{Type: "a"})
			var cause *tls.CertificateVerificationError
			if !errors.Is(err, webhook.ErrConnection) || !errors.As(err, &cause) {
				t.Fatalf("%v, want ErrConnection with its cause", err)
			}
			if want := webhook.ErrConnection.Error() + ": " + c.want; err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
		})
	}
}

func TestClient_CheckURL_Zone(t *testing.T) {
	err := newClient(t).CheckURL("https://[fe80::1%25zone]/")
	if !errors.Is(err, webhook.ErrBlockedAddress) || strings.Contains(err.Error(), "zone") {
		t.Errorf("error %q, want ErrBlockedAddress without the zone", err)
	}
}
