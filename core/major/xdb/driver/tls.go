package driver

import (
	"crypto/tls"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/tlsmode"
)

// The values of Config.TLS and DATABASE_TLS.
const (
	// TLSDisable uses plain text, unless the protocol itself encrypts. It is the default.
	TLSDisable = tlsmode.Disable
	// TLSRequire encrypts but accepts any certificate. It prevents eavesdropping but not
	// man-in-the-middle attacks.
	TLSRequire = tlsmode.Require
	// TLSVerifyFull encrypts and verifies the certificate and its host name.
	TLSVerifyFull = tlsmode.VerifyFull
)

var tlsVariables = tlsmode.Variables{Mode: xenv.DatabaseTLS, CA: xenv.DatabaseTLSCA}

// TLSMode returns the TLS mode, or the default if it is not set. The error names each
// invalid variable: an unknown mode, or a CA file that is unreadable or not used by the
// mode.
func (c Config) TLSMode() (string, error) { return tlsVariables.Check(c.TLS, c.TLSCA) }

// TLSConfig returns the crypto/tls configuration for a mode of Config.TLS and a CA file,
// or nil for TLSDisable. Use it if the DSN of the library has no parameter for the file.
func TLSConfig(mode, caFile, host string) (*tls.Config, error) {
	return tlsVariables.Config(mode, caFile, host)
}
