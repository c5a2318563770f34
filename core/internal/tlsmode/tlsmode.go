// Package tlsmode implements the TLS modes of connections to databases and cache servers.
package tlsmode

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

const (
	// Disable sends all data in plain text if the protocol permits it. It is the default.
	Disable = "disable"
	// Require encrypts the connection but accepts any certificate. It protects against
	// eavesdropping, but not against a man in the middle.
	Require = "require"
	// VerifyFull encrypts the connection and verifies the certificate and its host name.
	VerifyFull = "verify-full"
)

// Variables are the configuration variables of the mode and the CA file. Errors name
// them.
type Variables struct{ Mode, CA xenv.EnvKey }

// Check validates mode and caFile and returns the mode, or Disable if mode is empty. It
// returns an error if the mode is unknown, if the CA file cannot be read, or if the mode
// does not use a CA file. The error names the invalid variable.
func (v Variables) Check(mode, caFile string) (string, error) {
	mode = cmp.Or(mode, Disable)
	known := []string{Disable, Require, VerifyFull}
	switch {
	case !slices.Contains(known, mode):
		return "", xenv.Problem(v.Mode, mode, "is not a mode", strings.Join(known, ", "))
	case caFile == "":
		return mode, nil
	case mode != VerifyFull:
		return "", xenv.Problem(v.CA, caFile,
			"is only used if "+string(v.Mode)+" is "+VerifyFull, "")
	}
	if _, err := v.readCA(caFile); err != nil {
		return "", err
	}
	return mode, nil
}

// Config returns the TLS configuration for a mode and a CA file. It returns nil if the
// connection is not encrypted.
func (v Variables) Config(mode, caFile, host string) (*tls.Config, error) {
	if mode != Require && mode != VerifyFull {
		return nil, nil // nil disables encryption
	}
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	var err error
	switch {
	case mode == Require:
		config.InsecureSkipVerify = true // Require accepts any certificate
	case caFile != "":
		config.RootCAs, err = v.readCA(caFile)
	}
	return config, err
}

func (v Variables) readCA(name string) (*x509.CertPool, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the file that the configuration names
	if err != nil {
		return nil, fmt.Errorf("%w: %w", xenv.Problem(v.CA, name, "cannot be read", ""), err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, xenv.Problem(v.CA, name, "contains no PEM certificate", "")
	}
	return pool, nil
}
