package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// slow is a query that does not return unless it is interrupted.
const slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

func harness() dbtest.Harness {
	return dbtest.Harness{
		Driver: sqlite.Driver{},
		Config: func(tb testing.TB) driver.Config {
			path := filepath.Join(tb.TempDir(), "test.db")
			return driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}
		},
		InvalidParts: map[string]driver.Config{
			"no path": {},
			"no directory": {
				Source: xenv.Map{"DATABASE_PATH": filepath.Join("no-such-directory", "test.db")},
			},
			"directory": {Source: xenv.Map{"DATABASE_PATH": "."}},
			"file instead of a directory": {
				Source: xenv.Map{"DATABASE_PATH": filepath.Join("sqlite.go", "test.db")},
			},
			"NUL byte": {Source: xenv.Map{"DATABASE_PATH": "test\x00.db"}},
		},
		Unusable: func(tb testing.TB) map[string]driver.Config {
			text := filepath.Join(tb.TempDir(), "text.db")
			if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)),
				0o600); err != nil {
				tb.Fatal(err)
			}
			return map[string]driver.Config{
				"no database": {Source: xenv.Map{"DATABASE_PATH": text}},
			}
		},
		SpecialText: func(tb testing.TB, text string) (driver.Config, func(*gorm.DB) error) {
			path := filepath.Join(tb.TempDir(), text+".db")
			return driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}, func(*gorm.DB) error {
				_, err := os.Stat(path)
				return err
			}
		},
		Slow:   slow,
		Source: "in process, a file", Server: "SQLite " + version(),
		Differences: map[string]string{
			dbtest.DiffNoCredentials: "SQLite has no users",
			dbtest.DiffNoLength:      "SQLite does not enforce the length in a column's type",
			dbtest.DiffNoDecimal:     "SQLite stores a decimal as a binary floating-point number",
			dbtest.DiffNoServer:      "SQLite is a library in the process",
			dbtest.DiffNoTLS:         "SQLite reads its file without a network",
		},
	}
}

// version returns the name and version of SQLite.
func version() string {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = db.Close() }()
	var text string
	if err := db.QueryRowContext(context.Background(),
		"SELECT sqlite_version()").Scan(&text); err != nil {
		return err.Error()
	}
	return text
}

func memoryHarness() dbtest.Harness {
	h := harness()
	h.Config = func(testing.TB) driver.Config {
		return driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}}
	}
	h.Source = "in process, in memory"
	h.Differences[dbtest.DiffPrivate] = "each pool has its own in-memory database"
	return h
}

func TestDriver_Conformance_File(t *testing.T) { dbtest.Run(t, harness()) }

func TestDriver_Conformance_Memory(t *testing.T) { dbtest.Run(t, memoryHarness()) }
