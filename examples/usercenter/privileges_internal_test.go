//go:build unix

package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// existingTables lists the tables that exist before a user with few privileges starts the
// service.
var existingTables = []string{"users", "plinth_migrations", "plinth_migration_lock"}

// restricted is a database with the tables of the service except the lease table, and a
// user that may only read and write rows.
type restricted struct {
	db     *gorm.DB
	prefix string
	env    []string
}

func newRestricted(t *testing.T, name string, parts driver.Config) *restricted {
	t.Helper()
	r := &restricted{prefix: tablePrefix(t, name, parts)}
	p := launch(t, t.TempDir(), append(variables(name, parts, r.prefix), "SNOWFLAKE_NODE_ID=1",
		"LOG_DIR=none")...).ready()
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code = %d:\n%s", code, p.out.String())
	}
	db, err := xdb.Open(t.Context(), xdb.Options{Driver: name, Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	r.db = db
	user := r.prefix + "role"
	create, drop := userSQL(name, user)
	t.Cleanup(func() {
		r.do(t, drop...)
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
	})
	r.do(t, create...)
	for _, table := range existingTables {
		if table = strings.Replace(r.prefix+table, r.prefix+"plinth_migration_lock",
			"plinth_migration_lock", 1); db.Migrator().HasTable(table) {
			r.grant(t, name, table)
		}
	}
	parts.User, parts.Pass = user, "s3cret"
	r.env = append(variables(name, parts, r.prefix), "LOG_DIR=none")
	return r
}

// userSQL returns the statements that create and drop a user.
func userSQL(name, user string) (create, drop []string) {
	if name == "mysql" {
		return []string{"CREATE USER " + user + "@'%' IDENTIFIED BY 's3cret'"},
			[]string{"DROP USER " + user + "@'%'"}
	}
	return []string{"CREATE ROLE " + user + " LOGIN PASSWORD 's3cret'"},
		[]string{"DROP OWNED BY " + user, "DROP ROLE " + user}
}

func (r *restricted) grant(t *testing.T, name, table string) {
	t.Helper()
	user := r.prefix + "role"
	if name == "mysql" {
		user += "@'%'"
	}
	r.do(t, "GRANT SELECT, INSERT, UPDATE, DELETE ON "+table+" TO "+user)
}

func (r *restricted) do(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := r.db.WithContext(context.WithoutCancel(t.Context())).Exec(s).Error; err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// wantTables fails the test if the service created a table.
func (r *restricted) wantTables(t *testing.T, before []string) {
	t.Helper()
	after, err := r.db.Migrator().GetTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range after {
		if strings.HasPrefix(table, r.prefix) && !slices.Contains(before, table) {
			t.Errorf("the service created the table %s", table)
		}
	}
}

func TestService_Privileges(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"postgres", "mysql"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parse := map[string]func(*testing.T, string) driver.Config{
				"postgres": postgresParts, "mysql": mysqlParts,
			}[name]
			r := newRestricted(t, name, parse(t, dbtest.FindServer(t, name).DSN))
			tables, err := r.db.Migrator().GetTables()
			if err != nil {
				t.Fatal(err)
			}
			t.Run("node ID from the environment needs no table", func(t *testing.T) {
				r.serves(t, "ada", "SNOWFLAKE_NODE_ID=1")
				r.wantTables(t, tables)
			})
			t.Run("node ID leased from Redis needs no table", func(t *testing.T) {
				r.serves(t, "bob", append(redis(t), "LEASE_BACKEND=cache")...)
				r.wantTables(t, tables)
			})
			t.Run("lease in the database reports the statement to run", func(t *testing.T) {
				statement := r.fails(t)
				r.wantTables(t, tables)
				r.do(t, statement)
				r.grant(t, name, r.prefix+"plinth_leases")
				r.serves(t, "cyd")
			})
		})
	}
}

// serves starts the service and registers a user.
func (r *restricted) serves(t *testing.T, user string, env ...string) {
	t.Helper()
	p := launch(t, t.TempDir(), append(slices.Clone(r.env), env...)...).ready()
	status, text, err := send(t.Context(), http.DefaultClient, p.url+register, person(user))
	if err != nil || status != http.StatusOK {
		t.Errorf("register = %d %s %v", status, text, err)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
}

// fails starts the service with leases in the database and returns the statement that the
// log contains after the first ID failed.
func (r *restricted) fails(t *testing.T) string {
	t.Helper()
	p := launch(t, t.TempDir(), r.env...).ready()
	status, text, err := send(t.Context(), http.DefaultClient, p.url+register, person("dan"))
	if err != nil || status != http.StatusServiceUnavailable ||
		strings.Contains(text, "CREATE TABLE") {
		t.Errorf("register = %d %s %v, want 503 without the statement", status, text, err)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code = %d", code)
	}
	return statementOf(t, p.out.String())
}

// statementOf returns the statement in a log that creates the lease table.
func statementOf(t *testing.T, log string) string {
	t.Helper()
	_, text, found := strings.Cut(log,
		"plinth_leases is missing and could not be created; create it with ")
	statement, _, end := strings.Cut(text, "; ")
	if !found || !end || strings.Contains(log, "s3cret") ||
		!strings.Contains(log, "accepted instead: LEASE_BACKEND=cache, or none") {
		t.Fatalf("want the statement and the other backends, but no password:\n%s", log)
	}
	return strings.ReplaceAll(statement, `\"`, `"`)
}
