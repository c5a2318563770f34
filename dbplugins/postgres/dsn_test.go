package postgres_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

func TestDriver_DSN(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts driver.Config
		want  string
	}{
		{
			name:  "defaults",
			parts: driver.Config{User: "u", Pass: "p", Name: "n"},
			want:  "postgres://u:p@localhost:5432/n?connect_timeout=5&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name: "host, port and time zone",
			parts: driver.Config{
				Host: "db.example.com", Port: 5433, User: "u", Pass: "p", Name: "n",
				Source: xenv.Map{"DATABASE_TIMEZONE": "Asia/Shanghai"},
			},
			want: "postgres://u:p@db.example.com:5433/n?connect_timeout=5&sslmode=disable&sslrootcert=&timezone=Asia%2FShanghai",
		},
		{
			name:  "empty password",
			parts: driver.Config{User: "u", Name: "n"},
			want:  "postgres://u:@localhost:5432/n?connect_timeout=5&passfile=&password=&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "special characters",
			parts: driver.Config{User: "u@x:y", Pass: "a b/c?d#e%f&g='h'", Name: "n ?#&=/x"},
			want:  "postgres://u%40x%3Ay:a%20b%2Fc%3Fd%23e%25f&g=%27h%27@localhost:5432/n%20%3F%23&=/x?connect_timeout=5&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "CJK",
			parts: driver.Config{User: "用户", Pass: "密码", Name: "库"},
			want:  "postgres://%E7%94%A8%E6%88%B7:%E5%AF%86%E7%A0%81@localhost:5432/%E5%BA%93?connect_timeout=5&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "name with a leading slash",
			parts: driver.Config{User: "u", Pass: "p", Name: "/n"},
			want:  "postgres://u:p@localhost:5432/?connect_timeout=5&dbname=%2Fn&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "name with an at sign",
			parts: driver.Config{User: "u", Pass: "p", Name: "n@x"},
			want:  "postgres://u:p@localhost:5432/?connect_timeout=5&dbname=n%40x&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "IPv6",
			parts: driver.Config{Host: "2001:db8::1", User: "u", Pass: "p", Name: "n"},
			want:  "postgres://u:p@[2001:db8::1]:5432/n?connect_timeout=5&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "IPv6 in brackets with a zone",
			parts: driver.Config{Host: "[fe80::1%eth0]", User: "u", Pass: "p", Name: "n"},
			want:  "postgres://u:p@[fe80::1%25eth0]:5432/n?connect_timeout=5&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name: "Unix socket",
			parts: driver.Config{
				Host: "/var/run/postgresql", Port: 5433, User: "u", Pass: "p", Name: "n",
			},
			want: "postgres://u:p@/n?connect_timeout=5&host=%2Fvar%2Frun%2Fpostgresql&port=5433&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "several hosts",
			parts: driver.Config{Host: "db1,db2", User: "u", Pass: "p", Name: "n"},
			want:  "postgres://u:p@db1,db2:5432/n?connect_timeout=2&sslmode=disable&sslrootcert=&timezone=UTC",
		},
		{
			name:  "encrypted",
			parts: driver.Config{User: "u", Pass: "p", Name: "n", TLS: driver.TLSRequire},
			want:  "postgres://u:p@localhost:5432/n?connect_timeout=5&sslmode=require&sslrootcert=&timezone=UTC",
		},
		{
			name:  "verified with the system's certificates",
			parts: driver.Config{User: "u", Pass: "p", Name: "n", TLS: driver.TLSVerifyFull},
			want:  "postgres://u:p@localhost:5432/n?connect_timeout=5&sslmode=verify-full&sslrootcert=system&timezone=UTC",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := postgres.Driver{}.DSN(tc.parts)
			if err != nil || got != tc.want {
				t.Errorf("DSN = %s (%v), want %s", got, err, tc.want)
			}
		})
	}
}

func TestDriver_DSN_Errors(t *testing.T) {
	_, err := postgres.Driver{}.DSN(driver.Config{
		Host: "h:1", Port: 70000, Pass: "secret\x00", TLS: "on",
		Source: xenv.Map{"DATABASE_TIMEZONE": "\x00"},
	})
	if err == nil {
		t.Fatal("DSN: error = nil")
	}
	for _, want := range []string{
		"DATABASE_USER: is not set", "DATABASE_NAME: is not set",
		`DATABASE_HOST: "h:1" is not a valid host`,
		`DATABASE_PORT: "70000" is not a valid port (accepted: 1 to 65535)`,
		"DATABASE_PASS: the value contains a NUL byte",
		"DATABASE_TIMEZONE: ", `DATABASE_TLS: "on" is not a mode`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want %q in it", err, want)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("error = %q, want it without the password", err)
	}
}

// FuzzDriver_DSN checks that the library parses the same parts from a DSN.
func FuzzDriver_DSN(f *testing.F) {
	for _, text := range []string{
		"a b", "'", `"`, "@", ":", "/", "//", "%", "%2F", "?", "#", "&",
		"=", ";", "\\", "密", "\xff", ".", "..", "\n",
	} {
		f.Add(text, "x"+text, text+"x")
	}
	f.Fuzz(func(t *testing.T, user, pass, name string) {
		dsn, err := postgres.Driver{}.DSN(driver.Config{User: user, Pass: pass, Name: name})
		if err != nil {
			return
		}
		got, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		if got.User != user || got.Password != pass || got.Database != name ||
			got.Host != "localhost" || got.Port != 5432 {
			t.Errorf("DSN of %q, %q, %q is parsed as %q, %q, %q at %s:%d",
				user, pass, name, got.User, got.Password, got.Database, got.Host, got.Port)
		}
		if (postgres.Driver{}).Describe(dsn) == "" {
			t.Errorf("%q, %q, %q: the driver cannot parse its own DSN", user, pass, name)
		}
	})
}

func TestDriver_DSN_Environment(t *testing.T) {
	home := t.TempDir()
	passfile := filepath.Join(home, "pgpass")
	if err := os.WriteFile(passfile, []byte("*:*:*:*:stolen\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"PGHOST": "evil", "PGPORT": "1", "PGUSER": "evil", "PGDATABASE": "evil",
		"PGPASSWORD": "stolen", "PGPASSFILE": passfile,
		"PGSSLMODE": "allow", "PGSSLROOTCERT": filepath.Join(home, "missing.crt"),
		"PGTZ": "Asia/Shanghai", "PGCONNECT_TIMEOUT": "x",
	} {
		t.Setenv(name, value)
	}
	for _, mode := range []string{driver.TLSDisable, driver.TLSRequire, driver.TLSVerifyFull} {
		dsn, err := postgres.Driver{}.DSN(driver.Config{User: "u", Name: "n", TLS: mode})
		if err != nil {
			t.Fatal(err)
		}
		c, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{c.Host, c.User, c.Password, c.Database, c.RuntimeParams["timezone"]}
		if want := []string{"localhost", "u", "", "n", "UTC"}; !slices.Equal(got, want) ||
			c.Port != 5432 || len(c.Fallbacks) > 0 {
			t.Errorf("%s: %q at port %d with %d fallbacks, want %q at port 5432 without fallbacks",
				mode, got, c.Port, len(c.Fallbacks), want)
		}
		if encrypted := c.TLSConfig != nil; encrypted != (mode != driver.TLSDisable) {
			t.Errorf("%s: encrypted = %t", mode, encrypted)
		} else if encrypted && c.TLSConfig.InsecureSkipVerify != (mode == driver.TLSRequire) {
			t.Errorf("%s: InsecureSkipVerify = %t", mode, c.TLSConfig.InsecureSkipVerify)
		}
	}
}

func TestDriver_Describe(t *testing.T) {
	for _, tc := range []struct{ name, dsn, want string }{
		{
			name: "URL", dsn: "postgres://u:secret@db:5433/n?sslmode=disable&sslpassword=secret",
			want: "db:5433/n",
		},
		{
			name: "keywords", dsn: "host=db user=u password=secret dbname=n sslmode=disable",
			want: "db:5432/n",
		},
		{name: "IPv6", dsn: "postgres://u:secret@[::1]/n?sslmode=disable", want: "[::1]:5432/n"},
		{
			name: "socket", dsn: "postgres://u:secret@/n?host=/run/pg",
			want: "/run/pg/.s.PGSQL.5432/n",
		},
		{
			name: "line break in the name", dsn: "postgres://u:secret@db/n%0Ax?sslmode=disable",
			want: "db:5432/n%0Ax",
		},
		{
			name: "several hosts", dsn: "postgres://u:secret@db1,db2/n?sslmode=disable",
			want: "db1:5432/n",
		},
		{name: "raw # in the password", dsn: "postgres://u:sec#ret@db/n", want: ""},
		{name: "raw @ in the password", dsn: "postgres://u:sec@ret@db/n", want: ""},
		{name: "raw / in the password", dsn: "postgres://u:12/secret@db/n", want: ""},
		{name: "raw ? in the password", dsn: "postgres://u:12?secret@db/n", want: ""},
		{name: "raw @ and raw /", dsn: "postgresql://u:sec@ret/x@db/n", want: ""},
		{name: "invalid escape", dsn: "postgres://u:sec%ret@db/n", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (postgres.Driver{}).Describe(tc.dsn); got != tc.want {
				t.Errorf("Describe = %q, want %q", got, tc.want)
			}
		})
	}
}

// FuzzDriver_Describe checks that no part of an unescaped password is shown or used as a
// host.
func FuzzDriver_Describe(f *testing.F) {
	for _, lead := range []string{"", "p", "12"} {
		for _, sep := range []string{
			"@", "#", "/", "?", "@#", "#@", "@/", "@?", "/@", "?a=", ":",
			"%", "%4", "[", "]", " ", "\n", "\\", "`: ", ",", "&", ";",
		} {
			f.Add(lead, sep, "")
			f.Add(lead, sep, sep)
		}
	}
	f.Fuzz(func(t *testing.T, lead, first, second string) {
		dsn := "postgres://u:" + lead + first + "zq" + second + "zq@127.0.0.1:1/n?sslmode=disable"
		described := (postgres.Driver{}).Describe(dsn)
		db, err := gorm.Open(postgres.Driver{}.Dialector(dsn),
			&gorm.Config{DisableAutomaticPing: true, Logger: logger.Discard})
		if err == nil {
			if described != "127.0.0.1:1/n" {
				t.Errorf("Describe(%q) = %q", dsn, described)
			}
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
			return
		}
		if strings.Contains(described+err.Error(), "zq") ||
			driver.KindOf(err) != driver.UnknownDatabase {
			t.Errorf("%q: Describe = %q, error = %q of kind %q",
				dsn, described, err, driver.KindOf(err))
		}
	})
}

func TestDriver_Advice(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts driver.Config
		want  int
	}{
		{name: "no TLS mode", parts: driver.Config{Host: "db.example.com"}, want: 1},
		{
			name: "TLS disabled", want: 0,
			parts: driver.Config{Host: "db.example.com", TLS: driver.TLSDisable},
		},
		{name: "socket", parts: driver.Config{Host: "/run/postgresql"}, want: 0},
		{name: "localhost", parts: driver.Config{}, want: 0},
		{
			name:  "time zone",
			parts: driver.Config{Source: xenv.Map{"DATABASE_TIMEZONE": "UTC"}}, want: 0,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (postgres.Driver{}).Advice(tc.parts); len(got) != tc.want {
				t.Errorf("advice = %q, want %d lines", got, tc.want)
			}
		})
	}
}
