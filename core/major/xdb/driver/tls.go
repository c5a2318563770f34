package driver

import (
	"crypto/tls"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/tlsmode"
)

// The values of Config.TLS and DATABASE_TLS.
const (
	// TLSDisable sends everything in plain text, as far as the protocol lets it. It is
	// the default.
	TLSDisable = tlsmode.Disable
	// TLSRequire encrypts, but takes any certificate: who listens in learns nothing, who
	// stands in between everything.
	TLSRequire = tlsmode.Require
	// TLSVerifyFull encrypts, and checks the certificate and that it was issued for the
	// host.
	TLSVerifyFull = tlsmode.VerifyFull
)

var tlsVariables = tlsmode.Variables{Mode: xenv.DatabaseTLS, CA: xenv.DatabaseTLSCA}

// TLSMode returns how the connection is encrypted, the default filled in. The error names
// each variable that is wrong: a mode that is none, a CA file that cannot be read or that
// the mode does not use.
func (c Config) TLSMode() (string, error) { return tlsVariables.Check(c.TLS, c.TLSCA) }

// TLSConfig returns what crypto/tls wants to know for a mode of Config.TLS and a CA file,
// nil where nothing is encrypted. It is for libraries whose own DSN has no place for the
// file.
func TLSConfig(mode, caFile, host string) (*tls.Config, error) {
	return tlsVariables.Config(mode, caFile, host)
}
