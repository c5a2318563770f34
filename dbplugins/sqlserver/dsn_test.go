package sqlserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlserver"
)

// specialStrings contains values that break a DSN or inject a parameter if they are not
// escaped.
var specialStrings = []string{
	"", "with space", " ends ", "a'b", `a"b`, `a\b`, "a@b", "a:b", "a/b", "a%b", "a%20b", "a%zz",
	"a?b=c", "a#b", "a&b=c", "a;b=c",
	"a=b", "a{b}c", "a+b", "x host=evil", "x&database=evil", "x;server=evil", "密码", "пароль", "🔑",
	"🔑🔑 x 🔑", "a$b`c!", "a|b~c^d",
	"a,b(c)", "tab\tline\n", "[x]", "\u00a0",
}

func TestDriver_DSN_RoundTrip(t *testing.T) {
	for _, text := range specialStrings {
		for name, c := range map[string]driver.Config{
			"user":     {User: text, Pass: "p", Name: "n"},
			"password": {User: "u", Pass: text, Name: "n"},
			"database": {User: "u", Pass: "p", Name: text},
			"all":      {User: text, Pass: text, Name: text},
		} {
			if c.User == "" || c.Name == "" {
				continue // required
			}
			c.Host, c.Port = "db.example.org", 14330
			dsn, err := sqlserver.Driver{}.DSN(c)
			if err != nil {
				t.Errorf("%s %q: %v", name, text, err)
				continue
			}
			got, err := msdsn.Parse(dsn)
			if err != nil {
				t.Errorf("%s %q: %v", name, text, err)
				continue
			}
			want := c
			c.User, c.Pass, c.Name = got.User, got.Password, got.Database
			c.Host, c.Port = got.Host, int(got.Port)
			if c != want {
				t.Errorf("%s %q is not returned unchanged", name, text)
			}
			if got.Encryption != msdsn.EncryptionOff || !got.TrustServerCertificate {
				t.Errorf("%s %q changed the encryption", name, text)
			}
		}
	}
}

func TestDriver_DSN(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, authority(t).pem, 0o600); err != nil {
		t.Fatal(err)
	}
	const rest = "app+name=plinth&database=d&"
	for _, tc := range []struct {
		name string
		c    driver.Config
		want string
	}{
		{
			name: "defaults", c: driver.Config{},
			want: "localhost:1433?" + rest + "encrypt=false&trustservercertificate=true",
		},
		{
			name: "host and port", c: driver.Config{Host: "db", Port: 5},
			want: "db:5?" + rest + "encrypt=false&trustservercertificate=true",
		},
		{
			name: "instance", c: driver.Config{Host: `db\SQL1`},
			want: "db:0/SQL1?" + rest + "encrypt=false&trustservercertificate=true",
		},
		{
			name: "IPv6", c: driver.Config{Host: "::1"},
			want: "[::1]:1433?" + rest + "encrypt=false&trustservercertificate=true",
		},
		{
			name: "IPv6 in brackets", c: driver.Config{Host: "[::1]"},
			want: "[::1]:1433?" + rest + "encrypt=false&trustservercertificate=true",
		},
		{
			name: "IPv6 and instance", c: driver.Config{Host: `::1\I`},
			want: "[::1]:0/I?" + rest + "encrypt=false&trustservercertificate=true",
		},
		{
			name: "disable", c: driver.Config{TLS: driver.TLSDisable},
			want: "localhost:1433?" + rest + "encrypt=false&trustservercertificate=true",
		},
		{
			name: "require", c: driver.Config{TLS: driver.TLSRequire},
			want: "localhost:1433?" + rest + "encrypt=true&trustservercertificate=true",
		},
		{
			name: "verify-full", c: driver.Config{TLS: driver.TLSVerifyFull},
			want: "localhost:1433?" + rest + "encrypt=true&trustservercertificate=false",
		},
		{
			name: "verify-full with a CA", c: driver.Config{TLS: driver.TLSVerifyFull, TLSCA: ca},
			want: "localhost:1433?" + rest + "encrypt=true&tls-ca=" +
				strings.ReplaceAll(ca, "/", "%2F") + "&trustservercertificate=false",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.c.User, tc.c.Pass, tc.c.Name = "u", "p", "d"
			got, err := sqlserver.Driver{}.DSN(tc.c)
			if want := "sqlserver://u:p@" + tc.want; err != nil || got != want {
				t.Errorf("DSN = %s, %v; want %s", got, err, want)
			}
		})
	}
}

// bad contains invalid configurations and the variable that the error names.
var bad = map[string]struct {
	c    driver.Config
	want string
}{
	"no settings": {
		driver.Config{},
		"DATABASE_NAME: is not set\nDATABASE_USER: is not set",
	},
	"no user":             {driver.Config{Name: "d"}, "DATABASE_USER: is not set"},
	"no name":             {driver.Config{User: "u"}, "DATABASE_NAME: is not set"},
	"a port out of range": {driver.Config{User: "u", Name: "d", Port: 70000}, "DATABASE_PORT"},
	"a negative port":     {driver.Config{User: "u", Name: "d", Port: -1}, "DATABASE_PORT"},
	"an instance and a port": {
		driver.Config{User: "u", Name: "d", Host: `h\i`, Port: 1433},
		"DATABASE_PORT",
	},
	"an instance without a name": {
		driver.Config{User: "u", Name: "d", Host: `h\`},
		"DATABASE_HOST",
	},
	"an instance without a host": {
		driver.Config{User: "u", Name: "d", Host: `\i`},
		"DATABASE_HOST",
	},
	"a host with a parameter": {
		driver.Config{User: "u", Name: "d", Host: "h?encrypt=disable&x="},
		"DATABASE_HOST",
	},
	"a host with a space": {driver.Config{User: "u", Name: "d", Host: "h evil"}, "DATABASE_HOST"},
	"a host with an at sign": {
		driver.Config{User: "u", Name: "d", Host: "x@evil"},
		"DATABASE_HOST",
	},
	"a host with a path":  {driver.Config{User: "u", Name: "d", Host: "h/i"}, "DATABASE_HOST"},
	"an unknown TLS mode": {driver.Config{User: "u", Name: "d", TLS: "prefer"}, "DATABASE_TLS"},
	"a missing CA file": {
		driver.Config{User: "u", Name: "d", TLS: driver.TLSVerifyFull, TLSCA: "no-such.pem"},
		"DATABASE_TLS_CA",
	},
	"a CA file without verification": {
		driver.Config{User: "u", Name: "d", TLS: driver.TLSRequire, TLSCA: "dsn.go"},
		"DATABASE_TLS_CA",
	},
	"a CA file without a certificate": {
		driver.Config{User: "u", Name: "d", TLS: driver.TLSVerifyFull, TLSCA: "dsn.go"},
		"DATABASE_TLS_CA",
	},
	"an invalid IPv6 address": {
		driver.Config{User: "u", Name: "d", Host: "::zz::"},
		"DATABASE_HOST",
	},
}

func TestDriver_DSN_Errors(t *testing.T) {
	for name, tc := range bad {
		t.Run(name, func(t *testing.T) {
			tc.c.Pass = password
			dsn, err := sqlserver.Driver{}.DSN(tc.c)
			if err == nil || !strings.Contains(err.Error(), tc.want) ||
				strings.Contains(err.Error(), password) {
				t.Errorf("DSN = %q, %v; want an error with %q", dsn, err, tc.want)
			}
		})
	}
}

func TestDriver_Describe(t *testing.T) {
	for dsn, want := range map[string]string{
		"sqlserver://u:secret@db:1433?database=app":                    "db:1433/app",
		"sqlserver://u:secret@db?database=app&password=x":              "",
		"sqlserver://u:secret@db/SQL1?database=app":                    `db\SQL1/app`,
		"sqlserver://u:secret@[::1]:5?database=app":                    "[::1]:5/app",
		"server=db;port=5;user id=u;password=\"se;cret\";database=app": "db:5/app",
		"sqlserver://u:sec/ret@db":                                     "",
		"sqlserver://u:secret@db?database=a%0Ab":                       "db:1433/a%0Ab",
	} {
		if got := (sqlserver.Driver{}).Describe(dsn); got != want {
			t.Errorf("Describe = %q, want %q", got, want)
		}
	}
}

func TestDriver_Advice(t *testing.T) {
	for _, tc := range []struct {
		c    driver.Config
		want int
	}{
		{driver.Config{Host: "db.example.org"}, 1},
		{driver.Config{Host: "db.example.org", TLS: driver.TLSRequire}, 0},
		{driver.Config{Host: "localhost"}, 0},
	} {
		if got := (sqlserver.Driver{}).Advice(tc.c); len(got) != tc.want {
			t.Errorf("Advice(%v) = %q, want %d lines", tc.c, got, tc.want)
		}
	}
}
