package main_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/dbtest"
)

// finding is a finding in the JSON output of doctor.
type finding struct{ Check, Status, Detail, Fix string }

func diagnose(t *testing.T, dir string, env []string) (found []finding, r result) {
	t.Helper()
	r = plinth(t, dir, env, "doctor", "--json")
	var report struct {
		Findings []finding
		Problems int
	}
	decode(t, r.out, &report)
	problems := slices.DeleteFunc(slices.Clone(report.Findings),
		func(f finding) bool { return f.Status != "problem" })
	if len(problems) != report.Problems || (r.code == 3) != (report.Problems > 0) {
		t.Errorf("exit code %d with %d problems, reported as %d",
			r.code, len(problems), report.Problems)
	}
	return report.Findings, r
}

// expect checks that a finding with these substrings exists.
func expect(t *testing.T, found []finding, want finding) {
	t.Helper()
	if !slices.ContainsFunc(found, func(f finding) bool {
		return (want.Check == "" || f.Check == want.Check) && f.Status == want.Status &&
			strings.Contains(f.Detail, want.Detail) && strings.Contains(f.Fix, want.Fix)
	}) {
		t.Errorf("missing finding %+v in", want)
		for _, f := range found {
			t.Errorf("  %+v", f)
		}
	}
}

// listeningPort returns a port in use. closedPort returns a free port.
func listeningPort(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func closedPort(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// service creates a module that requires core and imports the given packages.
func service(t *testing.T, imports ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	code := "package main\n\nimport (\n"
	mod := "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/plinthgo/plinth/core v0.1.0\n"
	for _, path := range imports {
		mod += "require github.com/plinthgo/plinth/" + path + " v0.1.0\n"
		code += "\t_ " + strconv.Quote("github.com/plinthgo/plinth/"+path) + "\n"
	}
	put(t, dir, map[string]string{
		"go.mod":  mod,
		"main.go": code + ")\n\nfunc main() {}\n",
	})
	return dir
}

// postgres returns the connection of the test server in parts.
func postgres(t *testing.T) (env []string, pass string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a server")
	}
	u, err := url.Parse(dbtest.FindServer(t, "postgres").DSN)
	if err != nil {
		t.Fatal("the DSN of the server does not parse") // err would contain the DSN
	}
	pass, _ = u.User.Password()
	return []string{
		"DATABASE_DRIVER=postgres", "DATABASE_HOST=" + u.Hostname(), "DATABASE_PORT=" + u.Port(),
		"DATABASE_USER=" + u.User.Username(), "DATABASE_NAME=" + strings.TrimPrefix(u.Path, "/"),
	}, pass
}

func TestDoctor(t *testing.T) {
	t.Run("reports all problems with their fixes", func(t *testing.T) {
		server, _ := postgres(t)
		port, redis := listeningPort(t), closedPort(t)
		dir := service(t, "cacheplugins/redis") // without dbplugins/postgres
		put(t, dir, map[string]string{".env": "PLINTH_DRAIN_DELAY=5\nPLINTH_HOST=127.0.0.1\nPLINTH_PORT=" + port + "\n" +
			"NOSQL_DRIVER=redis\nNOSQL_HOST=127.0.0.1\nNOSQL_PORT=" + redis +
			"\nNOSQL_PASS=hunter2cache\n" +
			strings.Join(server, "\n") + "\nDATABASE_PASS=hunter2database\n"})
		found, r := diagnose(t, dir, nil)
		for _, want := range []finding{
			{
				"environment", "problem",
				`PLINTH_DRAIN_DELAY: "5" has no unit (accepted: a duration such as 500ms`,
				"change PLINTH_DRAIN_DELAY in .env",
			},
			{
				"drivers", "problem",
				"DATABASE_DRIVER=postgres, but the driver is not imported",
				`plinth add db postgres, or add import _ "github.com/plinthgo/plinth/dbplugins/postgres" and run go get github.com/plinthgo/plinth/dbplugins/postgres`,
			},
			{"drivers", "ok", "NOSQL_DRIVER=redis, and the code imports the driver", ""},
			{
				"ports", "problem", "127.0.0.1:" + port + " is in use (PLINTH_PORT)",
				"or set PLINTH_PORT to another port",
			},
			{"database", "problem", "access denied", "correct DATABASE_USER and DATABASE_PASS"},
			{
				"cache", "problem", "connection refused",
				"start the server, or correct NOSQL_HOST and NOSQL_PORT",
			},
		} {
			expect(t, found, want)
		}
		found = slices.DeleteFunc(found, func(f finding) bool { return f.Status != "problem" })
		if len(found) != 5 {
			t.Errorf("%d problems, want 5", len(found))
		}
		plain := plinth(t, dir, nil, "doctor")
		if plain.code != 3 || !strings.Contains(plain.out, "5 problems, ") {
			t.Errorf("exit code %d:\n%s", plain.code, plain.out)
		}
		if strings.Contains(r.out+r.err+plain.out+plain.err, "hunter2") {
			t.Errorf("the output contains a secret:\n%s\n%s", r.out, plain.out)
		}
	})

	t.Run("reports no problem for a valid service", func(t *testing.T) {
		server, pass := postgres(t)
		dir := service(t, "dbplugins/postgres")
		found, r := diagnose(t, dir, append(server, "DATABASE_PASS="+pass, "PLINTH_PORT=0"))
		if r.code != 0 {
			t.Errorf("exit code %d", r.code)
		}
		expect(t, found, finding{"database", "ok", "connected to", ""})
		expect(t, found, finding{
			"clock", "ok", "within 1s of the clock of the database server", "",
		})
		expect(t, found, finding{
			"node", "ok", "each replica leases a node ID from the database", "",
		})
	})

	t.Run("exits with 1 when interrupted", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		accepted := make(chan net.Conn, 1)
		go func() { // a server that never responds
			if conn, err := l.Accept(); err == nil {
				accepted <- conn
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		cmd := command(ctx, service(t),
			[]string{"NOSQL_DRIVER=redis", "NOSQL_HOST=127.0.0.1", "NOSQL_PORT=" + port}, "doctor")
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case conn := <-accepted:
			defer func() { _ = conn.Close() }()
		case <-ctx.Done():
			t.Fatal("doctor did not connect within a minute")
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 1 || errs.String() != "plinth: interrupted\n" {
			t.Errorf("exit code %d and %q, want 1 and one line",
				cmd.ProcessState.ExitCode(), errs.String())
		}
	})
}

func TestDoctor_DatabaseServer(t *testing.T) {
	server, pass := postgres(t)
	dir := service(t, "dbplugins/postgres")
	for _, tc := range []struct {
		name string
		env  []string
		want finding
	}{
		{
			"closed port",
			[]string{"DATABASE_PORT=" + closedPort(t)},
			finding{
				Detail: "connection refused",
				Fix:    "start the server, or correct DATABASE_HOST and DATABASE_PORT",
			},
		},
		{
			"unknown database",
			[]string{"DATABASE_NAME=unknown_database"},
			finding{
				Detail: "unknown_database",
				Fix:    "create the database, or correct DATABASE_NAME",
			},
		},
		{
			"unknown user",
			[]string{"DATABASE_USER=unknown_user"},
			finding{Detail: "access denied", Fix: "correct DATABASE_USER and DATABASE_PASS"},
		},
		{
			"unknown certificate authority",
			[]string{"DATABASE_TLS=verify-full"},
			finding{Detail: "certificate", Fix: "correct DATABASE_TLS and DATABASE_TLS_CA"},
		},
		{
			"missing CA file",
			[]string{"DATABASE_TLS=verify-full", "DATABASE_TLS_CA=/gone/ca.pem"},
			finding{Detail: "DATABASE_TLS_CA", Fix: "set it in .env"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := append(append(slices.Clone(server), "DATABASE_PASS="+pass), tc.env...)
			found, r := diagnose(t, dir, env)
			tc.want.Check, tc.want.Status = "database", "problem"
			expect(t, found, tc.want)
			if strings.Contains(r.out+r.err, pass) {
				t.Errorf("the output contains the password:\n%s", r.out)
			}
		})
	}
}

func TestDoctor_SQLite(t *testing.T) {
	t.Run("does not create or change files", func(t *testing.T) {
		dir := service(t, "dbplugins/sqlite")
		env := []string{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=shop.db"}
		found, r := diagnose(t, dir, env)
		expect(t, found, finding{
			"database", "ok", "shop.db does not exist yet; the service creates it", "",
		})
		if r.code != 0 {
			t.Errorf("exit code %d", r.code)
		}
		found, _ = diagnose(t, dir,
			[]string{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=data/shop.db"})
		expect(t, found, finding{"database", "problem", "data/shop.db", "mkdir -p data"})
		before := names(t, dir)
		if slices.Contains(before, "shop.db") {
			t.Errorf("doctor created a file: %v", before)
		}

		put(t, dir, map[string]string{"internal/migration/0001_users.sql": "CREATE TABLE users (id INTEGER);\n"})
		if up := plinth(t, dir, env, "migrate", "up"); up.code != 0 {
			t.Fatal(up.err)
		}
		put(t, dir, map[string]string{"internal/migration/0002_orders.sql": "CREATE TABLE orders (id INTEGER);\n"})
		before = names(t, dir)
		found, _ = diagnose(t, dir, env)
		expect(t, found, finding{"database", "ok", "connected to", ""})
		expect(t, found, finding{
			"database", "warning",
			"1 of 2 migrations in internal/migration are pending", "plinth migrate up",
		})
		if after := names(t, dir); !slices.Equal(before, after) {
			t.Errorf("doctor changed the directory from %v to %v", before, after)
		}
	})

	t.Run("reports an invalid database file", func(t *testing.T) {
		dir := service(t, "dbplugins/sqlite")
		put(t, dir, map[string]string{"shop.db": strings.Repeat("not a database\n", 100)})
		found, _ := diagnose(t, dir, []string{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=shop.db"})
		expect(t, found, finding{"database", "problem", "shop.db", "DATABASE_PATH"})
	})
}

// names returns the files below dir.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
