package client_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/resolver"
)

// certificate returns the credentials of a loopback server and the root that verifies
// them.
func certificate(t *testing.T) (credentials.TransportCredentials, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return credentials.NewServerTLSFromCert(&tls.Certificate{
		Certificate: [][]byte{der},
		PrivateKey:  key,
	}), roots
}

// list is a resolver with fixed addresses.
type list []string

// Scheme implements resolver.Builder.
func (list) Scheme() string { return "list" }

// Build implements resolver.Builder.
func (l list) Build(
	_ resolver.Target, conn resolver.ClientConn, _ resolver.BuildOptions,
) (resolver.Resolver, error) {
	var state resolver.State
	for _, address := range l {
		state.Addresses = append(state.Addresses, resolver.Address{Addr: address})
	}
	return l, conn.UpdateState(state)
}

// ResolveNow implements resolver.Resolver.
func (list) ResolveNow(resolver.ResolveNowOptions) {}

// Close implements resolver.Resolver.
func (list) Close() {}
