package driver_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestConfig_Advice(t *testing.T) {
	for _, tc := range []struct {
		name   string
		config driver.Config
		want   bool
	}{
		{name: "no host"},
		{name: "localhost", config: driver.Config{Host: "localhost"}},
		{name: "a loopback address", config: driver.Config{Host: "127.0.0.2"}},
		{name: "the loopback address of IPv6", config: driver.Config{Host: "[::1]"}},
		{name: "a Unix socket", config: driver.Config{Host: "/run/postgresql"}},
		{name: "another host", config: driver.Config{Host: "db", Pass: "hunter2"}, want: true},
		{name: "another address", config: driver.Config{Host: "10.0.0.1"}, want: true},
		{
			name:   "another host, explicitly disabled",
			config: driver.Config{Host: "db", TLS: driver.TLSDisable},
		},
		{
			name:   "another host, encrypted",
			config: driver.Config{Host: "db", TLS: driver.TLSRequire},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			advice := tc.config.Advice()
			if got := len(advice) > 0; got != tc.want {
				t.Fatalf("Advice = %q, want a warning: %t", advice, tc.want)
			}
			if tc.want && (!strings.Contains(advice[0], "DATABASE_TLS") ||
				strings.Contains(advice[0], "hunter2")) {
				t.Errorf("Advice = %q", advice)
			}
		})
	}
}
