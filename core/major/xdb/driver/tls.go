package driver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
)

// The values of Config.TLS and DATABASE_TLS.
const (
	// TLSDisable sends everything in plain text, as far as the protocol lets it. It is the default.
	TLSDisable = "disable"
	// TLSRequire encrypts, but takes any certificate: who listens in learns nothing, who stands in between everything.
	TLSRequire = "require"
	// TLSVerifyFull encrypts, and checks the certificate and that it was issued for the host.
	TLSVerifyFull = "verify-full"
)

// TLSMode returns how the connection is encrypted, the default filled in. The error names each variable that is wrong: a
// mode that is none, a CA file that cannot be read or that the mode does not use.
func (c Config) TLSMode() (string, error) {
	mode := c.TLS
	if mode == "" {
		mode = TLSDisable
	}
	known := []string{TLSDisable, TLSRequire, TLSVerifyFull}
	switch {
	case !slices.Contains(known, mode):
		return "", xEnv.Problem(xEnv.DatabaseTLS, mode, "is no mode", strings.Join(known, ", "))
	case c.TLSCA == "":
		return mode, nil
	case mode != TLSVerifyFull:
		return "", xEnv.Problem(xEnv.DatabaseTLSCA, c.TLSCA, "is only used where "+string(xEnv.DatabaseTLS)+" is "+TLSVerifyFull, "")
	}
	if _, err := readCA(c.TLSCA); err != nil {
		return "", err
	}
	return mode, nil
}

// TLSConfig returns what crypto/tls wants to know for a mode of Config.TLS and a CA file, nil where nothing is encrypted. It
// is for libraries whose own DSN has no place for the file.
func TLSConfig(mode, caFile, host string) (*tls.Config, error) {
	switch mode {
	case TLSRequire:
		config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
		config.InsecureSkipVerify = true // that is what the mode says
		return config, nil
	case TLSVerifyFull:
		config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
		if caFile == "" {
			return config, nil
		}
		var err error
		config.RootCAs, err = readCA(caFile)
		return config, err
	default:
		return nil, nil //nolint:nilnil // no encryption is no configuration
	}
}

// readCA reads the certificates of a PEM file.
func readCA(name string) (*x509.CertPool, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the file that the configuration names
	if err != nil {
		return nil, fmt.Errorf("%w: %w", xEnv.Problem(xEnv.DatabaseTLSCA, name, "cannot be read", ""), err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, xEnv.Problem(xEnv.DatabaseTLSCA, name, "holds no PEM certificate", "")
	}
	return pool, nil
}
