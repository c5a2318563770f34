package driver

import (
	"crypto/tls"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/tlsmode"
)

// The values of Config.TLS and NOSQL_TLS.
const (
	// TLSDisable sends everything in plain text. It is the default.
	TLSDisable = tlsmode.Disable
	// TLSRequire encrypts but accepts any certificate. It prevents eavesdropping but not
	// man-in-the-middle attacks.
	TLSRequire = tlsmode.Require
	// TLSVerifyFull encrypts and verifies the certificate and its host name.
	TLSVerifyFull = tlsmode.VerifyFull
)

var tlsVariables = tlsmode.Variables{Mode: xenv.NoSqlTLS, CA: xenv.NoSqlTLSCA}

// TLSMode returns the TLS mode, or the default if it is not set. The error names the
// invalid variable: an unknown mode, or a CA file that is unreadable or not used by the
// mode.
func (c Config) TLSMode() (string, error) { return tlsVariables.Check(c.TLS, c.TLSCA) }

// TLSConfig returns the TLS configuration for a mode of Config.TLS and a CA file, or nil
// if the mode is TLSDisable.
func TLSConfig(mode, caFile, host string) (*tls.Config, error) {
	return tlsVariables.Config(mode, caFile, host)
}
