package mysql_test

import (
	"strings"
	"testing"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

func TestDriver_DSN(t *testing.T) {
	const defaults = "?charset=utf8mb4&interpolateParams=true"
	for _, tc := range []struct {
		name  string
		parts driver.Config
		want  string
	}{
		{
			name: "defaults", parts: driver.Config{User: "u", Name: "n"},
			want: "u@tcp(localhost:3306)/n" + defaults,
		},
		{
			name: "every part",
			parts: driver.Config{
				Host: "db.internal", Port: 3307, User: "u", Pass: "p", Name: "n",
				Source: xenv.Map{"DATABASE_CHARSET": "latin1"},
			},
			want: "u:p@tcp(db.internal:3307)/n?charset=latin1",
		},
		{
			name: "IPv6 address", parts: driver.Config{Host: "::1", User: "u", Name: "n"},
			want: "u@tcp([::1]:3306)/n" + defaults,
		},
		{
			name:  "IPv6 address in brackets",
			parts: driver.Config{Host: "[::1]", User: "u", Name: "n"},
			want:  "u@tcp([::1]:3306)/n" + defaults,
		},
		{
			name:  "socket",
			parts: driver.Config{Host: "/run/mysqld/mysqld.sock", User: "u", Pass: "p", Name: "n"},
			want:  "u:p@unix(/run/mysqld/mysqld.sock)/n" + defaults,
		},
		{
			name:  "special characters",
			parts: driver.Config{User: "a@b/c", Pass: "p:a@s/s(w)?x=y&z", Name: "n/a?m#e%20"},
			want:  "a@b/c:p:a@s/s(w)?x=y&z@tcp(localhost:3306)/n%2Fa%3Fm%23e%2520" + defaults,
		},
		{
			name:  "TLS without verification",
			parts: driver.Config{User: "u", Name: "n", TLS: driver.TLSRequire},
			want:  "u@tcp(localhost:3306)/n" + defaults + "&tls=skip-verify",
		},
		{
			name:  "TLS with verification",
			parts: driver.Config{User: "u", Name: "n", TLS: driver.TLSVerifyFull},
			want:  "u@tcp(localhost:3306)/n" + defaults + "&tls=true",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := mysql.Driver{}.DSN(tc.parts)
			if err != nil || got != tc.want {
				t.Errorf("DSN = %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}

func FuzzDriver_DSN(f *testing.F) {
	f.Add("localhost", "u", "p", "n", "utf8mb4")
	f.Add("/run/mysqld/mysqld.sock", "a@b", "p:a@s/s(w)?x=y&z", "n/a?m#e%20", "latin1")
	f.Add("::1", "u:v", "\x00", "(", "utf8;x")
	f.Fuzz(func(t *testing.T, host, user, pass, name, charset string) {
		c := driver.Config{
			Host: host, Port: 3307, User: user, Pass: pass, Name: name,
			Source: xenv.Map{"DATABASE_CHARSET": charset},
		}
		dsn, err := mysql.Driver{}.DSN(c)
		if err != nil {
			if !strings.Contains(err.Error(), "DATABASE_") {
				t.Errorf("error = %q, want it to name a variable", err)
			}
			return
		}
		got, err := gosql.ParseDSN(dsn)
		if err != nil {
			t.Fatalf("parse %q: %v", dsn, err)
		}
		if got.User != user || got.Passwd != pass || got.DBName != name ||
			!strings.Contains(got.Addr, strings.Trim(host, "[]")) {
			t.Errorf("%q is parsed as database %q of user %q at %q",
				dsn, got.DBName, got.User, got.Addr)
		}
		if len(got.Params) > 0 || got.MultiStatements || got.AllowAllFiles || got.TLS != nil {
			t.Errorf("%q contains an injected parameter", dsn)
		}
	})
}

func TestDriver_DSN_Errors(t *testing.T) {
	_, err := mysql.Driver{}.DSN(driver.Config{
		Port: -1, TLS: "maybe",
		Source: xenv.Map{"DATABASE_CHARSET": "utf8 x"},
	})
	if err == nil {
		t.Fatal("error = nil")
	}
	for _, want := range []xenv.EnvKey{
		xenv.DatabaseUser, xenv.DatabaseName, xenv.DatabasePort, "DATABASE_CHARSET",
		xenv.DatabaseTLS,
	} {
		if !strings.Contains(err.Error(), string(want)+":") {
			t.Errorf("error = %q, want it to name %s", err, want)
		}
	}
}

func TestOpen_InvalidDSN(t *testing.T) {
	const secret = "hunter2"
	for _, tc := range []struct {
		name string
		dsn  string
		want string
	}{
		{name: "no slash", dsn: "u:" + secret + "@tcp(h)", want: "missing the slash"},
		{name: "no at", dsn: "u:" + secret + "/n", want: "parse DSN: want user:password"},
		{
			name: "invalid escape", dsn: "u:" + secret + "@tcp(h)/n%zz",
			want: "parse DSN: want user:password",
		},
		{
			name: "invalid boolean", dsn: "u:" + secret + "@tcp(h)/n?parseTime=maybe",
			want: "invalid bool value: maybe",
		},
		{
			name: "removed parameter", dsn: "u:" + secret + "@tcp(h)/n?strict=true",
			want: "strict mode has been removed",
		},
		{
			name: "CA file without TLS", dsn: "u:" + secret + "@tcp(h)/n?tls-ca=%2Fca.pem",
			want: "requires tls=true",
		},
		{
			name: "missing CA file",
			dsn:  "u:" + secret + "@tcp(h)/n?tls=true&tls-ca=%2Fno-such.pem",
			want: string(xenv.DatabaseTLSCA),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db, err := xdb.Open(t.Context(),
				xdb.Options{Driver: mysql.Name, DSN: xlog.Secret(tc.dsn)})
			if err == nil {
				_ = xdb.Close(db)
				t.Fatal("error = nil")
			}
			if text := err.Error(); !strings.Contains(text, tc.want) ||
				strings.Contains(text, secret) {
				t.Errorf("error = %q, want %q and no password", text, tc.want)
			}
		})
	}
}

func TestDriver_Advice(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts driver.Config
		want  []xenv.EnvKey
	}{
		{name: "local", parts: driver.Config{}},
		{
			name: "remote", parts: driver.Config{Host: "db.internal"},
			want: []xenv.EnvKey{xenv.DatabaseTLS},
		},
		{
			name:  "default character set",
			parts: driver.Config{Source: xenv.Map{"DATABASE_CHARSET": "utf8mb4"}},
		},
		{
			name:  "other character set",
			parts: driver.Config{Source: xenv.Map{"DATABASE_CHARSET": "latin1"}},
			want:  []xenv.EnvKey{"DATABASE_CHARSET"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := mysql.Driver{}.Advice(tc.parts)
			if len(got) != len(tc.want) {
				t.Fatalf("Advice = %q, want %d lines", got, len(tc.want))
			}
			for i, key := range tc.want {
				if !strings.Contains(got[i], string(key)) {
					t.Errorf("line = %q, want it to name %s", got[i], key)
				}
			}
		})
	}
}
