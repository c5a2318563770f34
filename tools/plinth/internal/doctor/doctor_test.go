package doctor_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/internal/doctor"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// diagnose runs doctor on an empty directory with the environment env.
func diagnose(t *testing.T, now func() time.Time, env map[xenv.EnvKey]string) []doctor.Finding {
	t.Helper()
	return diagnoseDir(t, t.TempDir(), now, env)
}

// diagnoseDir runs doctor on dir with the environment env.
func diagnoseDir(
	t *testing.T, dir string, now func() time.Time, env map[xenv.EnvKey]string,
) []doctor.Finding {
	t.Helper()
	for _, v := range xenv.Table() {
		t.Setenv(v.Key.String(), env[v.Key])
	}
	t.Setenv("GOWORK", "off") // the Makefile sets it for the repository
	t.Chdir(dir)
	s, err := service.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doctor.Run(t.Context(), s, doctor.Options{Timeout: 10 * time.Second, Now: now})
}

func has(found []doctor.Finding, check string, status doctor.Status, detail string) bool {
	return slices.ContainsFunc(found, func(f doctor.Finding) bool {
		return f.Check == check && f.Status == status && strings.Contains(f.Detail, detail) &&
			(status == doctor.OK || f.Fix != "")
	})
}

func TestRun_Clock(t *testing.T) {
	t.Run("reports a clock before the epoch of IDs", func(t *testing.T) {
		found := diagnose(t, func() time.Time {
			return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		}, nil)
		if !has(found, "clock", doctor.Problem, "2020-01-01") {
			t.Errorf("findings = %+v", found)
		}
	})

	t.Run("warns about a difference to the clock of Redis", func(t *testing.T) {
		if testing.Short() {
			t.Skip("needs a server")
		}
		url, _ := cachetest.Server(t, "redis")
		env := map[xenv.EnvKey]string{xenv.NoSqlDriver: "redis", xenv.NoSqlURL: url}
		for _, tc := range []struct {
			name   string
			offset time.Duration
			status doctor.Status
			want   string
		}{
			{name: "equal", status: doctor.OK, want: "within 1s of the clock of Redis"},
			{
				name: "ahead", offset: time.Minute, status: doctor.Warning,
				want: "s ahead of the clock of Redis",
			},
			{
				name: "behind", offset: -time.Minute, status: doctor.Warning,
				want: "s behind the clock of Redis",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				found := diagnose(t, func() time.Time { return time.Now().Add(tc.offset) }, env)
				if !has(found, "clock", tc.status, tc.want) || !has(found, "cache", doctor.OK, "") {
					t.Errorf("findings = %+v", found)
				}
			})
		}
	})
}

func TestRun_Timeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	for _, v := range xenv.Table() {
		t.Setenv(v.Key.String(), "")
	}
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	for key, value := range map[xenv.EnvKey]string{
		xenv.NoSqlDriver: "redis", xenv.NoSqlHost: host, xenv.NoSqlPort: port,
		xenv.DatabaseDriver: "postgres", xenv.DatabaseHost: host, xenv.DatabasePort: port,
		xenv.DatabaseUser: "u", xenv.DatabaseName: "d",
	} {
		t.Setenv(key.String(), value)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	s, err := service.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	found := doctor.Run(t.Context(), s, doctor.Options{Timeout: 300 * time.Millisecond})
	if elapsed := time.Since(start); elapsed > 3*time.Second {
		t.Errorf("Run took %s with a timeout of 300ms per check", elapsed)
	}
	for _, check := range []string{"database", "cache"} {
		if !has(found, check, doctor.Problem, "") {
			t.Errorf("%s: findings = %+v", check, found)
		}
	}
}

func TestRun_Mail(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/plinthgo/plinth/notifyx v0.1.0\n",
		"main.go": "package main\n\nimport _ \"github.com/plinthgo/plinth/notifyx/email\"\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	address := server.Addr().(*net.TCPAddr)
	mail := func(port int) map[xenv.EnvKey]string {
		return map[xenv.EnvKey]string{
			"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": strconv.Itoa(port),
			"EMAIL_FROM": "shop@example.org", "EMAIL_TLS": "none",
		}
	}
	for _, tc := range []struct {
		name   string
		env    map[xenv.EnvKey]string
		status doctor.Status
		want   string
	}{
		{name: "nothing is set", status: doctor.Problem, want: "EMAIL_HOST: is missing"},
		{name: "no sender", status: doctor.Problem, want: "EMAIL_FROM: is missing"},
		{name: "no server", env: mail(1), status: doctor.Warning, want: "cannot connect"},
		{name: "a server", env: mail(address.Port), status: doctor.OK, want: "connected to"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found := diagnoseDir(t, dir, nil, tc.env)
			if !has(found, "mail", tc.status, tc.want) {
				t.Errorf("findings = %+v", found)
			}
		})
	}
	found := diagnose(t, nil, nil) // does not import the email client
	if slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Check == "mail" }) {
		t.Errorf("findings = %+v, want none of the check mail", found)
	}
}
