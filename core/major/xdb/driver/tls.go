package driver

import (
	"crypto/tls"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/tlsmode"
)

// The values of Config.TLS and DATABASE_TLS.
const (
	// TLSDisable, the default, uses plain text as far as the protocol allows.
	TLSDisable = tlsmode.Disable
	// TLSRequire encrypts, but accepts any certificate: it protects against
	// eavesdropping, not against a man in the middle.
	TLSRequire = tlsmode.Require
	// TLSVerifyFull encrypts and verifies the certificate and its host name.
	TLSVerifyFull = tlsmode.VerifyFull
)

var tlsVariables = tlsmode.Variables{Mode: xenv.DatabaseTLS, CA: xenv.DatabaseTLSCA}

// TLSMode returns the TLS mode, or the default if it is not set. The error names each
// invalid variable: an unknown mode, or a CA file that is unreadable or unused by the
// mode.
func (c Config) TLSMode() (string, error) { return tlsVariables.Check(c.TLS, c.TLSCA) }

// TLSConfig returns the crypto/tls configuration for a mode of Config.TLS and a CA file,
// or nil for TLSDisable. Use it if the DSN of the library has no parameter for the file.
func TLSConfig(mode, caFile, host string) (*tls.Config, error) {
	return tlsVariables.Config(mode, caFile, host)
}
