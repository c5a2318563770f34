// Package tlsmode is the meaning of the TLS modes that connections to databases and cache
// servers have.
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

// The modes.
const (
	// Disable sends everything in plain text, as far as the protocol lets it. It is the
	// default.
	Disable = "disable"
	// Require encrypts, but takes any certificate: who listens in learns nothing, who
	// stands in between everything.
	Require = "require"
	// VerifyFull encrypts, and checks the certificate and that it was issued for the
	// host.
	VerifyFull = "verify-full"
)

// Variables are those that a mode and a CA file come from, for errors.
type Variables struct{ Mode, CA xenv.EnvKey }

// Check returns the mode, the default filled in. The error names the variable that is
// wrong: a mode that is none, a CA file that cannot be read or that the mode does not
// use.
func (v Variables) Check(mode, caFile string) (string, error) {
	mode = cmp.Or(mode, Disable)
	known := []string{Disable, Require, VerifyFull}
	switch {
	case !slices.Contains(known, mode):
		return "", xenv.Problem(v.Mode, mode, "is no mode", strings.Join(known, ", "))
	case caFile == "":
		return mode, nil
	case mode != VerifyFull:
		return "", xenv.Problem(v.CA, caFile,
			"is only used where "+string(v.Mode)+" is "+VerifyFull, "")
	}
	if _, err := v.readCA(caFile); err != nil {
		return "", err
	}
	return mode, nil
}

// Config returns what crypto/tls wants to know for a mode and a CA file, nil where
// nothing is encrypted.
func (v Variables) Config(mode, caFile, host string) (*tls.Config, error) {
	if mode != Require && mode != VerifyFull {
		return nil, nil // no encryption is no configuration
	}
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	var err error
	switch {
	case mode == Require:
		config.InsecureSkipVerify = true // that is what the mode says
	case caFile != "":
		config.RootCAs, err = v.readCA(caFile)
	}
	return config, err
}

// readCA reads the certificates of a PEM file.
func (v Variables) readCA(name string) (*x509.CertPool, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the file that the configuration names
	if err != nil {
		return nil, fmt.Errorf("%w: %w", xenv.Problem(v.CA, name, "cannot be read", ""), err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, xenv.Problem(v.CA, name, "holds no PEM certificate", "")
	}
	return pool, nil
}
