package oracle_test

import (
	"strings"
	"testing"

	go_ora "github.com/sijms/go-ora/v2"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/oracle"
)

// specialStrings contains the strings of the conformance suite and strings with special
// meaning in go-ora's DSN.
var specialStrings = []string{
	"with space", " ends ", "a'b", `a"b`, `a\b`, "a@b", "a:b", "a%b", "a%20b", "a?b=c", "a#b",
	"a&b=c", "a;b=c", "a=b",
	"a{b}c", "a+b", "x host=evil", "x&_pragma=query_only(1)", "密码", "пароль", "🔑", "a$b`c!",
	"a|b~c^d", "a,b(c)",
	"a/b", "/", "a/../b", "%2F", "x)(HOST=evil", "a\nb", "a\x00b", "SSL=true",
}

func TestDriver_DSN_RoundTrip(t *testing.T) {
	for _, text := range specialStrings {
		parts := driver.Config{
			Host: "db.example", Port: 1522, User: "u" + text, Pass: text,
			Source: xenv.Map{"DATABASE_SERVICE_NAME": "svc"},
		}
		dsn, err := oracle.Driver{}.DSN(parts)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		clean, _, err := oracle.Parse(dsn)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got, err := go_ora.ParseConfig(clean)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got.UserID != parts.User || got.Password != text || got.ServiceName != "svc" ||
			got.SSL || len(got.Servers) != 1 ||
			got.Servers[0].Addr != "db.example" || got.Servers[0].Port != 1522 {
			t.Errorf("%q is parsed as user %q, password %q, service %q at %v",
				text, got.UserID, got.Password, got.ServiceName, got.Servers)
		}
	}
}

// The library inserts the service into a connect descriptor without escaping.
func TestDriver_DSN_ServiceName(t *testing.T) {
	for _, text := range specialStrings {
		dsn, err := oracle.Driver{}.DSN(driver.Config{
			User: "u", Pass: "p",
			Source: xenv.Map{"DATABASE_SERVICE_NAME": text},
		})
		if strings.ContainsAny(text, "()='\"\\/,\n\x00`[]") || strings.TrimSpace(text) != text {
			if err == nil || !strings.Contains(err.Error(), "DATABASE_SERVICE_NAME") {
				t.Errorf("%q: DSN = %q, %v; want an error with the variable", text, dsn, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := go_ora.ParseConfig(dsn); err != nil || got.ServiceName != text ||
			!strings.Contains(got.ConnectionData(), "(SERVICE_NAME="+text+")") {
			t.Errorf("%q is parsed as %+v, %v", text, got, err)
		}
	}
}

func TestDriver_DSN(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts driver.Config
		want  string
	}{
		{
			name: "no host",
			parts: driver.Config{
				User: "u", Pass: "p", Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"},
			},
			want: "oracle://u:p@localhost:1521/s?SERVER+LOCATION=UTC&TIMEOUT=0",
		},
		{
			name:  "database name as the service name",
			parts: driver.Config{Host: "h", User: "u", Pass: "p", Name: "n"},
			want:  "oracle://u:p@h:1521/n?SERVER+LOCATION=UTC&TIMEOUT=0",
		},
		{
			name: "service name and database name",
			parts: driver.Config{
				Host: "[::1]", Port: 1, User: "u", Pass: "p", Name: "n",
				Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"},
			},
			want: "oracle://u:p@[::1]:1/s?SERVER+LOCATION=UTC&TIMEOUT=0",
		},
		{
			name: "require",
			parts: driver.Config{
				Host: "h", User: "u", Pass: "p",
				Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"}, TLS: driver.TLSRequire,
			},
			want: "oracle://u:p@h:1521/s?SERVER+LOCATION=UTC&SSL=true&SSL+VERIFY=false&TIMEOUT=0",
		},
		{
			name: "verify-full",
			parts: driver.Config{
				Host: "h", User: "u", Pass: "p",
				Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"}, TLS: driver.TLSVerifyFull,
			},
			want: "oracle://u:p@h:1521/s?SERVER+LOCATION=UTC&SSL=true&SSL+VERIFY=true&TIMEOUT=0",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := oracle.Driver{}.DSN(tc.parts)
			if err != nil || got != tc.want {
				t.Errorf("DSN = %q, %v; want %q", got, err, tc.want)
			}
			if _, _, err := oracle.Parse(got); err != nil {
				t.Errorf("parse the DSN: %v", err)
			}
		})
	}
}

func TestOpen_DSN(t *testing.T) {
	for _, tc := range []struct {
		name, dsn string
		want      string // in the error
	}{
		{
			name: "DSN of go-ora",
			dsn: go_ora.BuildUrl("h", 1521, "s", "app user", `p@ss/:;=%#?"'`,
				map[string]string{"TRACE FILE": ""}),
		},
		{
			name: "connect descriptor",
			dsn: go_ora.BuildJDBC("u", "p",
				"(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=h)(PORT=1521))"+
					"(CONNECT_DATA=(SERVICE_NAME=s)))", nil),
		},
		{name: "other scheme", dsn: "postgres://u:hunter2@h/s", want: "parse DSN: want"},
		{name: "not a URL", dsn: "oracle://u:hun%ter2@h:1521/s", want: "parse DSN: want"},
		{name: "no port", dsn: "oracle://u:hunter2@h/s", want: "parse DSN: want"},
		{
			name: "unknown parameter", dsn: "oracle://u:hunter2@h:1521/s?PORT=1",
			want: "parse DSN: want",
		},
		{
			name: "password with a question mark", dsn: "oracle://user:12?hunter2=3@h:1521/s",
			want: "parse DSN: want",
		},
		{
			name: "unused CA", dsn: "oracle://u:hunter2@h:1521/s?TLS+CA=x.pem",
			want: "requires SSL=true",
		},
		{
			name: "missing CA file",
			dsn:  "oracle://u:hunter2@h:1521/s?SSL=true&TLS+CA=no-such.pem",
			want: "DATABASE_TLS_CA",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := oracle.Parse(tc.dsn)
			if tc.want == "" && err != nil || tc.want != "" &&
				(err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "hun") {
				t.Errorf("the error contains a part of the password: %v", err)
			}
		})
	}
}

func TestDriver_Advice(t *testing.T) {
	got := oracle.Driver{}.Advice(driver.Config{
		Host: "h", TLS: driver.TLSDisable,
		Source: xenv.Map{
			"DATABASE_SERVICE_NAME": "s",
			"DATABASE_LIB_DIR":      "/opt/instantclient",
		},
	})
	if len(got) != 1 || !strings.Contains(got[0], "DATABASE_LIB_DIR") {
		t.Errorf("Advice = %q, want one line about DATABASE_LIB_DIR", got)
	}
	if got := (oracle.Driver{}).Advice(driver.Config{Host: "db.example"}); len(got) != 1 ||
		!strings.Contains(got[0], "not encrypted") {
		t.Errorf("Advice = %q, want one line about TLS", got)
	}
}
