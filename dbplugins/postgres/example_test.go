package postgres_test

import (
	"fmt"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
)

// ExampleDriver resolves the options of an application. It does not connect.
func ExampleDriver() {
	options := xdb.Options{
		Driver: "postgres",
		Parts: driver.Config{
			Host: "db.example.com", User: "app", Pass: "p@ss/word", Name: "shop",
			TLS: driver.TLSVerifyFull,
		},
	}
	fmt.Println(xdb.Resolve(options))

	options.Parts = driver.Config{Host: "db.example.com:5433", User: "app"}
	_, err := xdb.Resolve(options)
	fmt.Println(err)
	// Output:
	// postgres db.example.com:5432/shop <nil>
	// DATABASE_NAME: is not set
	// DATABASE_HOST: "db.example.com:5433" is not a valid host (accepted: a name or an address without its port, or the directory of a Unix socket)
}

// ExampleDriver_pgBouncer uses a pooler in transaction mode.
func ExampleDriver_pgBouncer() {
	fmt.Println(xdb.Resolve(xdb.NewOptions(
		xdb.WithDriver("postgres",
			"postgres://app:secret@pooler:6432/shop?sslmode=verify-full&default_query_exec_mode=exec"),
	)))
	// Output: postgres pooler:6432/shop <nil>
}
