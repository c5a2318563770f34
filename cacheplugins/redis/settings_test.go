package redis_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestDriver_Check(t *testing.T) {
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noPEM, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		config driver.Config
		want   []string // the prefixes of the lines
	}{
		{name: "defaults"},
		{name: "one server", config: driver.Config{
			Host: "db", Port: 6380, User: "u", Pass: "p", Database: 3, PoolSize: 1,
		}},
		{name: "port in the host", config: driver.Config{Host: "db:1", Port: 6379}},
		{name: "IPv6", config: driver.Config{Host: "::1"}},
		{name: "IPv6 in brackets", config: driver.Config{Host: "[::1]:7000"}},
		{name: "socket", config: driver.Config{Host: "/run/redis.sock"}},
		{name: "sentinels", config: driver.Config{
			Host: "a, b:1,[::1]",
			Source: xenv.Map{
				"NOSQL_MODE": "sentinel", "NOSQL_MASTER": "m",
				"NOSQL_SENTINEL_USER": "u", "NOSQL_SENTINEL_PASS": "p",
			},
		}},
		{name: "cluster", config: driver.Config{
			Host:   "a",
			Source: xenv.Map{"NOSQL_MODE": "cluster"},
		}},
		{name: "verify-full", config: driver.Config{TLS: "verify-full"}},
		{
			name: "all settings",
			config: driver.Config{
				Host: "a,,b c", Port: 70000, Database: 1, User: "u", TLS: "on", PoolSize: -1,
				Source: xenv.Map{
					"NOSQL_MODE": "cluster", "NOSQL_MASTER": "m", "NOSQL_SENTINEL_PASS": "p",
				},
			},
			want: []string{
				`NOSQL_MASTER: "m" is only used if NOSQL_MODE is sentinel`,
				"NOSQL_SENTINEL_PASS: the value is only used",
				`NOSQL_PORT: "70000" is not a valid port (accepted: 1 to 65535)`,
				`NOSQL_DATABASE: "1" is not supported in a cluster`,
				"NOSQL_PASS: is not set, but a user is", "NOSQL_HOST: is not a valid host",
				`NOSQL_HOST: "b c" is not a valid host`,
				`NOSQL_TLS: "on" is not a mode`, `NOSQL_POOL_SIZE: "-1" is not a valid pool size`,
			},
		},
		{
			name:   "unknown mode",
			config: driver.Config{Source: xenv.Map{"NOSQL_MODE": "ring"}},
			want:   []string{`NOSQL_MODE: "ring" is not one of the values (accepted: single, sentinel, cluster)`},
		},
		{
			name:   "missing master",
			config: driver.Config{Source: xenv.Map{"NOSQL_MODE": "sentinel"}},
			want:   []string{"NOSQL_MASTER: is not set"},
		},
		{
			name: "two servers", config: driver.Config{Host: "a,b"},
			want: []string{`NOSQL_HOST: "a,b" is more than one host`},
		},
		{
			name:   "socket with a cluster",
			config: driver.Config{Host: "/s", Source: xenv.Map{"NOSQL_MODE": "cluster"}},
			want:   []string{`NOSQL_HOST: "/s" is a Unix socket`},
		},
		{
			name: "TLS through a socket", config: driver.Config{Host: "/s", TLS: "require"},
			want: []string{`NOSQL_TLS: "require" is not supported`},
		},
		{
			name: "invalid ports",
			config: driver.Config{
				Host:   "a:0,b:x,c:70000,d:",
				Source: xenv.Map{"NOSQL_MODE": "cluster"},
			},
			want: []string{
				`NOSQL_HOST: "a:0"`, `NOSQL_HOST: "b:x"`, `NOSQL_HOST: "c:70000"`,
				`NOSQL_HOST: "d:"`,
			},
		},
		{
			name: "URL as host", config: driver.Config{Host: "redis://:hunter2@h"},
			want: []string{"NOSQL_HOST: is not a valid host"},
		},
		{
			name:   "negative database",
			config: driver.Config{Database: -1}, want: []string{`NOSQL_DATABASE: "-1"`},
		},
		{
			name: "no PEM", config: driver.Config{TLS: "verify-full", TLSCA: noPEM},
			want: []string{"NOSQL_TLS_CA: "},
		},
		{
			name:   "unused CA file",
			config: driver.Config{TLS: "require", TLSCA: noPEM}, want: []string{"NOSQL_TLS_CA: "},
		},
		{
			name:   "URL with invalid parts",
			config: driver.Config{URL: "redis+sentinel://u@h:0/", TLS: "on"},
			want: []string{
				"NOSQL_URL: has a part that is not set (NOSQL_MASTER)",
				"NOSQL_URL: has a part that is not set, but",
				"NOSQL_URL: the value has a part that is not a valid host",
				"NOSQL_TLS: ",
			},
		},
		{
			name: "URL replaces other settings",
			config: driver.Config{
				URL: "redis://h", Host: "@", Port: -1, Database: -1, User: "u",
				Source: xenv.Map{"NOSQL_MODE": "ring", "NOSQL_MASTER": "m"},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := redis.Driver{}.Check(tc.config)
			var lines []string
			if err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if len(lines) != len(tc.want) {
				t.Fatalf("Check = %q, want %d lines", lines, len(tc.want))
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, tc.want[i]) || strings.Contains(line, "hunter2") {
					t.Errorf("line %d = %q, want %q", i, line, tc.want[i])
				}
			}
		})
	}
}

func TestDriver_Open_InvalidSettings(t *testing.T) {
	if _, err := (redis.Driver{}).Open(t.Context(), driver.Config{Host: "a,b"}); !errors.Is(err,
		driver.ErrConfig) {
		t.Errorf("Open = %v, want ErrConfig", err)
	}
}
