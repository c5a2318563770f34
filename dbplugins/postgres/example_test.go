package postgres_test

import (
	"fmt"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
)

// ExampleDriver makes the options of an application; nothing connects before it starts.
func ExampleDriver() {
	options := xdb.Options{
		Driver: "postgres",
		Parts:  driver.Config{Host: "db.example.com", User: "app", Pass: "p@ss/word", Name: "shop", TLS: driver.TLSVerifyFull},
	}
	fmt.Println(xdb.Check(options), xdb.Describe(options))

	options.Parts = driver.Config{Host: "db.example.com:5433", User: "app"}
	fmt.Println(xdb.Check(options))
	// Output:
	// <nil> postgres db.example.com:5432/shop
	// DATABASE_NAME: is not set
	// DATABASE_HOST: "db.example.com:5433" is no host (accepted: a name or an address without its port, or the folder of a Unix socket)
}

// ExampleDriver_pgBouncer goes through a pooler that gives each transaction another session.
func ExampleDriver_pgBouncer() {
	config, err := xoptdatabase.Build(
		xoptdatabase.WithDriver("postgres", "postgres://app:secret@pooler:6432/shop?sslmode=verify-full&default_query_exec_mode=exec"),
	)
	fmt.Println(config.Describe(), err)
	// Output: postgres pooler:6432/shop <nil>
}
