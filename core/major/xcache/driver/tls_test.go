package driver_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestConfig_TLSMode(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.pem")
	for _, tc := range []struct {
		name   string
		config driver.Config
		mode   string
		want   string // prefix of the error; "" means no error
	}{
		{name: "default", mode: driver.TLSDisable},
		{name: "require", config: driver.Config{TLS: "require"}, mode: driver.TLSRequire},
		{
			name: "verify-full", config: driver.Config{TLS: "verify-full"},
			mode: driver.TLSVerifyFull,
		},
		{name: "unknown mode", config: driver.Config{TLS: "on"}, want: "NOSQL_TLS: "},
		{
			name:   "unused CA file",
			config: driver.Config{TLS: "require", TLSCA: missing}, want: "NOSQL_TLS_CA: ",
		},
		{
			name: "missing CA file", config: driver.Config{TLS: "verify-full", TLSCA: missing},
			want: "NOSQL_TLS_CA: ",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mode, err := tc.config.TLSMode()
			if mode != tc.mode || (err == nil) != (tc.want == "") || err != nil &&
				!strings.HasPrefix(err.Error(), tc.want) {
				t.Fatalf("TLSMode = %q, %v; want %q and an error of %q",
					mode, err, tc.mode, tc.want)
			}
			config, err := driver.TLSConfig(mode, "", "h")
			if err != nil || (config != nil) != (mode != "" && mode != driver.TLSDisable) {
				t.Errorf("TLSConfig = %v, %v", config, err)
			}
		})
	}
}
