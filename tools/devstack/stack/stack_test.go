package stack_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/devstack/server"
	"github.com/plinthgo/plinth/tools/devstack/stack"
)

// start starts a stack with exactly the environment env.
func start(t *testing.T, only string, env map[string]string) *stack.Stack {
	t.Helper()
	kinds, err := stack.Choose(only)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stack.Start(t.Context(), func(name string) string { return env[name] }, kinds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return s
}

func skipUnlessInstalled(t *testing.T, name string) {
	t.Helper()
	kind, ok := server.ByName(name)
	if !ok {
		t.Fatalf("unknown kind %q", name)
	}
	if err := kind.Look(); err != nil {
		t.Skip(err)
	}
}

// exported returns the value of a variable of the stack.
func exported(s *stack.Stack, name string) string {
	for _, assignment := range s.Env() {
		if value, ok := strings.CutPrefix(assignment, name+"="); ok {
			return value
		}
	}
	return ""
}

func TestStart_Environment(t *testing.T) {
	t.Run("uses the servers of the environment", func(t *testing.T) {
		s := start(t, "", map[string]string{
			"PLINTH_TEST_POSTGRES_DSN":    "postgres://app:s3cret@db.example:5433/x",
			"PLINTH_TEST_POSTGRES_SOURCE": "container",
			"PLINTH_TEST_MYSQL_DSN":       "app:s3cret@tcp(sql.example:3307)/x",
			"PLINTH_TEST_REDIS_URL":       "redis://:s3cret@cache.example/0",
			"PLINTH_TEST_SMTP_URL":        "smtp://app:s3cret@mail.example",
			"PLINTH_TEST_SMTP_SOURCE":     "our relay",
		})
		if env := s.Env(); len(env) > 0 {
			t.Errorf("Env = %q, want nothing", env)
		}
		table := s.Table()
		for _, want := range []string{
			"PLINTH_TEST_POSTGRES_DSN, container", "db.example:5433", "sql.example:3307",
			"cache.example", "PLINTH_TEST_SMTP_URL, our relay", "mail.example:25",
		} {
			if !strings.Contains(table, want) {
				t.Errorf("the table lacks %q:\n%s", want, table)
			}
		}
		if strings.Contains(table, "s3cret") {
			t.Errorf("the table shows a password:\n%s", table)
		}
	})

	t.Run("rejects invalid connection strings without quoting them", func(t *testing.T) {
		for _, tc := range []struct {
			kind, variable string
			dsns           []string
		}{
			{kind: "postgres", variable: "PLINTH_TEST_POSTGRES_DSN", dsns: []string{
				"host=db password=s3cret", "postgres://u:s3cret/x@db:5432/y",
				"postgres://u:1/s3cret@db/y", "://s3cret", "s3cret@db", "redis://s3cret",
			}},
			{kind: "mysql", variable: "PLINTH_TEST_MYSQL_DSN", dsns: []string{
				"u:s3cret@db/y", "u:s3cret@tcp(db:1", "s3cret", "u:p@tcp(db)/x@tcp(s3cret",
				"u:p@udp(s3cret)/x",
			}},
			{kind: "redis", variable: "PLINTH_TEST_REDIS_URL", dsns: []string{
				"s3cret", "redis://:s3cret/x@db", "http://:s3cret@db/0", "redis://:s3cret@",
			}},
			{
				kind: "postfix", variable: "PLINTH_TEST_SMTP_URL",
				dsns: []string{"s3cret:25", "smtp://?ca=s3cret", "http://u:s3cret@mail/"},
			},
		} {
			kinds, err := stack.Choose(tc.kind)
			if err != nil {
				t.Fatal(err)
			}
			for _, dsn := range tc.dsns {
				s, err := stack.Start(t.Context(),
					func(name string) string { return map[string]string{tc.variable: dsn}[name] },
					kinds)
				if err == nil {
					t.Errorf("%q was accepted", dsn)
					_ = s.Close(t.Context())
				} else if text := err.Error(); !strings.Contains(text, tc.variable) ||
					strings.Contains(text, "s3cret") {
					t.Errorf("error = %q, want %s and no part of the value", text, tc.variable)
				}
			}
		}
	})

	t.Run("reports a server that does not respond", func(t *testing.T) {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		s := start(t, "", map[string]string{
			"PLINTH_TEST_POSTGRES_DSN": "postgres://u:s3cret@127.0.0.1:1/x",
			"PLINTH_TEST_MYSQL_DSN": "u:s3c)/@tcp(s3cret@tcp(" + listener.Addr().String() +
				")/x?tls=true",
			"PLINTH_TEST_REDIS_URL": "redis://:s3cret@" + listener.Addr().String() + "/0",
			"PLINTH_TEST_SMTP_URL":  "smtp://u:s3cret@127.0.0.1:1?maildir=/x",
		})
		lines := strings.Split(s.Table(), "\n")
		for i, want := range []bool{false, true, false, false, true} {
			if got := strings.Contains(lines[i], "NO RESPONSE"); got != want {
				t.Errorf("line %d reports no response: %v, want %v:\n%s", i, got, want, lines[i])
			}
		}
		if strings.Contains(s.Table(), "s3c") {
			t.Errorf("the table shows a password:\n%s", s.Table())
		}
		if err := s.Missing([]string{"mysql", "redis"}); err != nil {
			t.Errorf("Missing = %v", err)
		}
		if err := s.Missing([]string{"postgres"}); err == nil || !strings.Contains(err.Error(),
			"127.0.0.1:1 of PLINTH_TEST_POSTGRES_DSN does not respond") {
			t.Errorf("Missing = %v", err)
		}
	})
}

func TestStack_Env(t *testing.T) {
	skipUnlessInstalled(t, "redis")
	s := start(t, "redis", nil)
	u, err := url.Parse(exported(s, "PLINTH_TEST_REDIS_URL"))
	if err != nil || !strings.HasPrefix(u.Host, "127.0.0.1:") || u.Path != "/0" {
		t.Errorf("URL of host %q, path %q, %v", u.Host, u.Path, err)
	}
	if encrypted := exported(s, "PLINTH_TEST_REDIS_TLS_URL"); encrypted == "" {
		t.Log("redis-server was built without TLS")
	} else if tls, err := url.Parse(encrypted); err != nil || tls.Scheme != "rediss" ||
		tls.Host == u.Host || !connects(t, tls.Host) {
		t.Errorf("the URL for TLS has the scheme %q, the host %q, %v", tls.Scheme, tls.Host, err)
	}
	if got := exported(s, "PLINTH_TEST_REDIS_SOURCE"); got != "private server" {
		t.Errorf("source = %q", got)
	}
	if _, err := os.Stat(exported(s, "PLINTH_TEST_TLS_CA")); err != nil {
		t.Error(err)
	}
	password, _ := u.User.Password()
	if table := s.Table(); !strings.Contains(table, u.Host) || !strings.Contains(table, "Redis ") ||
		strings.Contains(table, password) {
		t.Errorf("table =\n%s", table)
	}
	if kind, ok := server.ByName("redis"); ok && s.Missing([]string{kind.Name}) != nil {
		t.Error("Missing lists a running server")
	}
}

func TestStack_Env_CA(t *testing.T) {
	skipUnlessInstalled(t, "redis")
	env := map[string]string{"PLINTH_TEST_MYSQL_DSN": "app:x@tcp(sql.example:3307)/x"}
	s := start(t, "mysql,redis", env)
	if got := exported(s, "PLINTH_TEST_TLS_CA"); got != "" {
		t.Errorf("PLINTH_TEST_TLS_CA = %q, want unset without the CA of the other server", got)
	}
	if !strings.Contains(s.Table(), "PLINTH_TEST_TLS_CA") {
		t.Error("the table does not report that certificates are not verified")
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("-----BEGIN OWN-----"), 0o600); err != nil {
		t.Fatal(err)
	}
	env["PLINTH_TEST_TLS_CA"] = ca
	text, err := os.ReadFile(exported(start(t, "mysql,redis", env), "PLINTH_TEST_TLS_CA"))
	if err != nil || !strings.Contains(string(text), "-----BEGIN OWN-----") ||
		strings.Count(string(text), "BEGIN CERTIFICATE") != 1 {
		t.Errorf("file = %q, %v; want both CAs", text, err)
	}
}

func TestChoose(t *testing.T) {
	for _, tc := range []struct {
		name, only string
		want       []string
	}{
		{name: "all", want: []string{"postgres", "mysql", "redis", "postfix"}},
		{name: "some", only: "redis, postgres", want: []string{"redis", "postgres"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kinds, err := stack.Choose(tc.only)
			var got []string
			for _, k := range kinds {
				got = append(got, k.Name)
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("Choose = %q, %v; want %q", got, err, tc.want)
			}
		})
	}
	if _, err := stack.Choose("redis,sybase"); err == nil ||
		!strings.Contains(err.Error(), "sybase") {
		t.Errorf("Choose = %v, want an error that names the kind", err)
	}
}

func TestShell(t *testing.T) {
	want := `export A='it'\''s $x=1'` + "\n"
	if got := stack.Shell([]string{"A=it's $x=1"}); got != want {
		t.Errorf("Shell = %s, want %s", got, want)
	}
}
