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

// finding is what doctor prints as JSON.
type finding struct{ Check, Status, Detail, Mend string }

func diagnose(t *testing.T, dir string, env []string) (found []finding, r result) {
	t.Helper()
	r = plinth(t, dir, env, "doctor", "--json")
	var report struct {
		Findings []finding
		Problems int
	}
	decode(t, r.out, &report)
	wrong := slices.DeleteFunc(slices.Clone(report.Findings),
		func(f finding) bool { return f.Status != "problem" })
	if len(wrong) != report.Problems || (r.code == 3) != (report.Problems > 0) {
		t.Errorf("exit code %d with %d problems of which %d are counted",
			r.code, len(wrong), report.Problems)
	}
	return report.Findings, r
}

// expect looks for one finding, and its mend.
func expect(t *testing.T, found []finding, want finding) {
	t.Helper()
	if !slices.ContainsFunc(found, func(f finding) bool {
		return (want.Check == "" || f.Check == want.Check) && f.Status == want.Status &&
			strings.Contains(f.Detail, want.Detail) && strings.Contains(f.Mend, want.Mend)
	}) {
		t.Errorf("not found: %+v\namong", want)
		for _, f := range found {
			t.Errorf("  %+v", f)
		}
	}
}

// taken is a port on which something listens, closed one on which nothing does.
func taken(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func closed(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// service is a module that imports these packages and requires core.
func service(t *testing.T, imports ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	code, mod := "package main\n\nimport (\n",
		"module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/plinthgo/plinth/core v0.1.0\n"
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

// postgres is the server of the tests, in parts.
func postgres(t *testing.T) (env []string, pass string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a server")
	}
	u, err := url.Parse(dbtest.FindServer(t, "postgres").DSN)
	if err != nil {
		t.Fatal("the DSN of the server does not parse") // err would quote it
	}
	pass, _ = u.User.Password()
	return []string{
		"DATABASE_DRIVER=postgres", "DATABASE_HOST=" + u.Hostname(), "DATABASE_PORT=" + u.Port(),
		"DATABASE_USER=" + u.User.Username(), "DATABASE_NAME=" + strings.TrimPrefix(u.Path, "/"),
	}, pass
}

func TestDoctorNamesFiveFaultsAtOnceEachWithItsMend(t *testing.T) {
	server, _ := postgres(t)
	port, redis := taken(t), closed(t)
	dir := service(t, "cacheplugins/redis") // and not dbplugins/postgres
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
			"DATABASE_DRIVER=postgres, and nothing that the service links imports it",
			`plinth add db postgres, or add the line import _ "github.com/plinthgo/plinth/dbplugins/postgres" and run go get github.com/plinthgo/plinth/dbplugins/postgres`,
		},
		{"drivers", "ok", "NOSQL_DRIVER=redis, and the code imports it", ""},
		{
			"ports", "problem", "127.0.0.1:" + port + " is taken (PLINTH_PORT)",
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
	if n := len(slices.DeleteFunc(found,
		func(f finding) bool { return f.Status != "problem" })); n != 5 {
		t.Errorf("%d problems, want the 5 that were seeded", n)
	}
	plain := plinth(t, dir, nil, "doctor")
	if plain.code != 3 || !strings.Contains(plain.out, "5 problems, ") {
		t.Errorf("exit code %d:\n%s", plain.code, plain.out)
	}
	if strings.Contains(r.out+r.err+plain.out+plain.err, "hunter2") {
		t.Errorf("the output holds a secret:\n%s\n%s", r.out, plain.out)
	}
}

func TestDoctorFindsNothingWhereAllIsWell(t *testing.T) {
	server, pass := postgres(t)
	dir := service(t, "dbplugins/postgres")
	found, r := diagnose(t, dir, append(server, "DATABASE_PASS="+pass, "PLINTH_PORT=0"))
	if r.code != 0 {
		t.Errorf("exit code %d", r.code)
	}
	expect(t, found, finding{"database", "ok", "answers", ""})
	expect(t, found, finding{"clock", "ok", "within 1s of the database server", ""})
	expect(t, found, finding{"node", "ok", "each replica leases a number from the database", ""})
}

func TestDoctorTellsWhatIsWrongWithADatabaseServer(t *testing.T) {
	server, pass := postgres(t)
	dir := service(t, "dbplugins/postgres")
	for _, tc := range []struct {
		name string
		env  []string
		want finding
	}{
		{
			"nobody listens",
			[]string{"DATABASE_PORT=" + closed(t)},
			finding{
				Detail: "connection refused",
				Mend:   "start the server, or correct DATABASE_HOST and DATABASE_PORT",
			},
		},
		{
			"unknown database",
			[]string{"DATABASE_NAME=there_is_none"},
			finding{
				Detail: "there_is_none",
				Mend:   "create the database, or correct DATABASE_NAME",
			},
		},
		{
			"unknown user",
			[]string{"DATABASE_USER=nobody_knows"},
			finding{Detail: "access denied", Mend: "correct DATABASE_USER and DATABASE_PASS"},
		},
		{
			"a certificate that nobody has signed",
			[]string{"DATABASE_TLS=verify-full"},
			finding{Detail: "certificate", Mend: "correct DATABASE_TLS and DATABASE_TLS_CA"},
		},
		{
			"no such CA file",
			[]string{"DATABASE_TLS=verify-full", "DATABASE_TLS_CA=/gone/ca.pem"},
			finding{Detail: "DATABASE_TLS_CA", Mend: "set it in .env"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := append(append(slices.Clone(server), "DATABASE_PASS="+pass), tc.env...)
			found, r := diagnose(t, dir, env)
			tc.want.Check, tc.want.Status = "database", "problem"
			expect(t, found, tc.want)
			if strings.Contains(r.out+r.err, pass) {
				t.Errorf("the output holds the password:\n%s", r.out)
			}
		})
	}
}

func TestDoctorMakesNoDatabaseFile(t *testing.T) {
	dir := service(t, "dbplugins/sqlite")
	env := []string{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=shop.db"}
	found, r := diagnose(t, dir, env)
	expect(t, found, finding{
		"database", "ok", "shop.db is not there yet: the first start makes it",
		"",
	})
	if r.code != 0 {
		t.Errorf("exit code %d", r.code)
	}
	found, _ = diagnose(t, dir, []string{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=data/shop.db"})
	expect(t, found, finding{"database", "problem", "data/shop.db", "mkdir -p data"})
	before := names(t, dir)
	if slices.Contains(before, "shop.db") {
		t.Errorf("doctor has made a file: %v", before)
	}

	put(t, dir, map[string]string{"internal/migration/0001_users.sql": "CREATE TABLE users (id INTEGER);\n"})
	if up := plinth(t, dir, env, "migrate", "up"); up.code != 0 {
		t.Fatal(up.err)
	}
	put(t, dir, map[string]string{"internal/migration/0002_orders.sql": "CREATE TABLE orders (id INTEGER);\n"})
	before = names(t, dir)
	found, _ = diagnose(t, dir, env)
	expect(t, found, finding{"database", "ok", "shop.db answers", ""})
	expect(t, found, finding{
		"database", "warning",
		"1 of 2 migrations in internal/migration are pending", "plinth migrate up",
	})
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("doctor has changed the folder from %v to %v", before, after)
	}
}

func TestDoctorReportsAFileThatIsNoDatabase(t *testing.T) {
	dir := service(t, "dbplugins/sqlite")
	put(t, dir, map[string]string{"shop.db": strings.Repeat("this is no database\n", 100)})
	found, _ := diagnose(t, dir, []string{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=shop.db"})
	expect(t, found, finding{"database", "problem", "shop.db", "DATABASE_PATH"})
}

// names are the files of a folder, at every depth.
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

func TestDoctorThatIsInterruptedSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	came := make(chan net.Conn, 1)
	go func() { // a server that never answers
		if conn, err := l.Accept(); err == nil {
			came <- conn
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
	case conn := <-came:
		defer func() { _ = conn.Close() }()
	case <-ctx.Done():
		t.Fatal("doctor has not connected")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 1 || errs.String() != "plinth: interrupted\n" {
		t.Errorf("exit code %d and %q, want 1 and one line",
			cmd.ProcessState.ExitCode(), errs.String())
	}
}
