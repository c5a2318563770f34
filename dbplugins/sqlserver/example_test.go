package sqlserver_test

import (
	"context"
	"fmt"
	"log/slog"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlserver"
)

// ExampleDriver opens a database on a test double.
func ExampleDriver() {
	server, err := tdsStart(tdsOptions{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Stop() }()
	engine, err := xlog.New(xlog.Config{Level: slog.LevelError})
	if err != nil {
		panic(err)
	}
	ctx := xlog.NewContext(context.Background(), engine)
	db, err := xdb.Open(ctx, xdb.Options{Driver: sqlserver.Name, Parts: driver.Config{
		Host: "127.0.0.1", Port: server.Port(), User: "shop", Pass: "p@ss; word", Name: "shop",
		TLS: driver.TLSDisable,
	}})
	fmt.Println(err, server.Logins()[0].Database)
	fmt.Println(xdb.Close(db), engine.Close())
	// Output:
	// <nil> shop
	// <nil> <nil>
}

// ExampleDriver_lock prints the table hint of a locking clause of gorm.
func ExampleDriver_lock() {
	dry, err := gorm.Open(sqlserver.Driver{}.Dialector(
		"sqlserver://sa:secret@localhost?database=shop"),
		&gorm.Config{DryRun: true, DisableAutomaticPing: true})
	if err != nil {
		panic(err)
	}
	defer func() { _ = xdb.Close(dry) }()
	var rows []map[string]any
	lock := clause.Locking{
		Strength: clause.LockingStrengthUpdate,
		Options:  clause.LockingOptionsSkipLocked,
	}
	statement := dry.Table("jobs").Clauses(lock).Where("done = ?", false).Find(&rows).Statement
	fmt.Println(statement.SQL.String())
	// Output: SELECT * FROM "jobs" WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK, READPAST) WHERE done = @p1
}
