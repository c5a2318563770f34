package sqlserver_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/microsoft/go-mssqldb/msdsn"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlserver"
)

// TestDriver_Conformance runs on a real server only.
func TestDriver_Conformance(t *testing.T) {
	server := dbtest.FindServer(t, sqlserver.Name)
	parts := partsOfDSN(t, server.DSN)
	admin := connect(t, server.DSN)
	config := func(testing.TB) driver.Config { return parts }
	dbtest.Run(t, dbtest.Harness{
		Driver: sqlserver.Driver{}, Config: config,
		InvalidParts: badParts(),
		Unusable: func(testing.TB) map[string]driver.Config {
			password, user, database := parts, parts, parts
			password.Pass = "wrong-" + parts.Pass
			user.User = "plinth_no_such_user"
			database.Name = "plinth_no_such_database"
			return map[string]driver.Config{
				"a wrong password": password, "an unknown user": user,
				"an unknown database": database,
			}
		},
		SpecialText: func(tb testing.TB, text string) (driver.Config, func(*gorm.DB) error) {
			return specialLogin(tb, admin, parts, text)
		},
		TLS: &dbtest.TLS{CA: server.CA, Encrypted: func(db *gorm.DB) (encrypted bool, err error) {
			pool, err := db.DB()
			if err != nil {
				return false, err
			}
			const query = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"
			var option string
			err = pool.QueryRowContext(db.Statement.Context, query).Scan(&option)
			return option == "TRUE", err
		}},
		Outage: func(tb testing.TB) dbtest.Outage { return dbtest.CutOff(tb, parts) },
		Slow:   slow,
		Source: server.Source, Server: "SQL Server " + version(t, admin),
	})
}

// badParts returns the configurations of bad without the variables.
func badParts() map[string]driver.Config {
	all := map[string]driver.Config{}
	for name, tc := range bad {
		all[name] = tc.c
	}
	return all
}

// partsOfDSN converts a DSN to a configuration.
func partsOfDSN(tb testing.TB, dsn string) driver.Config {
	tb.Helper()
	cfg, err := msdsn.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	port := int(cfg.Port)
	if port == 0 {
		port = 1433
	}
	return driver.Config{
		Host: cfg.Host, Port: port, User: cfg.User, Pass: cfg.Password, Name: cfg.Database,
	}
}

// connect opens the server of a DSN for the queries of the harness.
func connect(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	db, err := gorm.Open(sqlserver.Driver{}.Dialector(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = xdb.Close(db) })
	return pool(tb, db)
}

// version returns the name and version of the server.
func version(tb testing.TB, admin *sql.DB) (text string) {
	tb.Helper()
	const query = "SELECT CONCAT(CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')), ' ', " +
		"CONVERT(nvarchar(128), SERVERPROPERTY('Edition')))"
	if err := admin.QueryRowContext(tb.Context(), query).Scan(&text); err != nil {
		tb.Fatal(err)
	}
	return text
}

// logins makes login names unique.
var logins atomic.Int64

// specialLogin creates a login with text in its name and password, and its user. A login
// name cannot contain a backslash. TestConnector_Login covers database names.
func specialLogin(
	tb testing.TB, admin *sql.DB, parts driver.Config, text string,
) (driver.Config, func(*gorm.DB) error) {
	tb.Helper()
	parts.Pass = text
	parts.User = fmt.Sprintf("plinth%d_%s_", logins.Add(1), strings.ReplaceAll(text, `\`, "|"))
	name := "[" + strings.ReplaceAll(parts.User, "]", "]]") + "]"
	literal := "N'" + strings.ReplaceAll(text, "'", "''") + "'"
	cleanupCtx := context.WithoutCancel(tb.Context())
	for _, step := range []struct{ do, undo string }{
		{
			"CREATE LOGIN " + name + " WITH PASSWORD = " + literal + ", CHECK_POLICY = OFF",
			"DROP LOGIN " + name,
		},
		{"CREATE USER " + name + " FOR LOGIN " + name, "DROP USER " + name},
	} {
		if _, err := admin.ExecContext(tb.Context(), step.do); err != nil {
			tb.Fatalf("%s: %v", strings.ReplaceAll(step.do, literal, "***"), err)
		}
		tb.Cleanup(func() {
			// the server may still have the closed session
			eventually(tb, step.undo, func() bool {
				_, err := admin.ExecContext(cleanupCtx, step.undo)
				return err == nil
			})
		})
	}
	return parts, func(db *gorm.DB) error {
		var login, database string
		row := db.Raw("SELECT ORIGINAL_LOGIN(), DB_NAME()").Row()
		if err := row.Scan(&login, &database); err != nil {
			return err
		}
		if login != parts.User || database != parts.Name {
			return fmt.Errorf("login %q at %q, want %q at %q",
				login, database, parts.User, parts.Name)
		}
		return nil
	}
}
