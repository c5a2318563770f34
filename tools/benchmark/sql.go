package main

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// row is the entity that is inserted.
type row struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64"`
	Email    string `gorm:"size:128"`
	Age      int
}

// insertRow inserts the same row with database/sql.
const insertRow = "INSERT INTO `rows` (`id`,`created_at`,`updated_at`,`username`,`email`,`age`) VALUES (?,?,?,?,?,?)"

// sqls compares an insert through the ORM with one through database/sql. Both use the
// same driver, SQLite, on a file with the same settings.
func sqls() []comparison {
	dir := must(os.MkdirTemp("", "plinth-benchmark-"))
	atExit(func() { _ = os.RemoveAll(dir) })
	node := newNode()
	quiet := must(xlog.New(xlog.Config{
		Level: slog.LevelError, Writer: os.Stderr, Format: xlog.FormatJSON,
	}))
	// As in a request, the context can be canceled.
	ctx, cancel := context.WithCancel(context.WithValue(
		xlog.NewContext(context.Background(), quiet), xctx.SnowflakeNodeKey, node))
	atExit(cancel)
	baseline := insertBySQL(ctx, node, filepath.Join(dir, "sql.db"))
	return []comparison{
		{
			name: "insert on SQLite, our defaults", peer: "database/sql", target: 2, allocs: -1,
			ours:   insertByXDB(ctx, filepath.Join(dir, "defaults.db"), xdb.Options{}),
			theirs: baseline,
		},
		{
			name: "insert without the default transaction", peer: "database/sql",
			target: 1.3, allocs: -1,
			ours: insertByXDB(ctx, filepath.Join(dir, "skip.db"),
				xdb.Options{SkipDefaultTransaction: true}),
			theirs: baseline,
		},
	}
}

// insertBySQL inserts without the ORM.
func insertBySQL(ctx context.Context, node *xsnowflake.Node, path string) func(*testing.B) {
	openRows(ctx, path, xdb.Options{}) // creates the table
	pool := must(sql.Open("sqlite",
		must(sqlite.Driver{}.DSN(driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}))))
	atExit(func() { _ = pool.Close() })
	return benchCall(func() error {
		now := time.Now().UTC()
		_, err := pool.ExecContext(ctx, insertRow, int64(node.MustGenerate()), now, now, "name",
			"name@example.org", 7)
		return err
	})
}

// insertByXDB inserts through xdb.
func insertByXDB(ctx context.Context, path string, o xdb.Options) func(*testing.B) {
	db := openRows(ctx, path, o).WithContext(ctx)
	return benchCall(func() error {
		return db.Create(&row{Username: "name", Email: "name@example.org", Age: 7}).Error
	})
}

func openRows(ctx context.Context, path string, o xdb.Options) *gorm.DB {
	o.Driver, o.AutoMigrate = sqlite.Name, []any{&row{}}
	o.Parts = driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}
	db := must(xdb.Open(ctx, o))
	atExit(func() { _ = xdb.Close(db) })
	return db
}
