package oracle_test

import (
	"fmt"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	_ "github.com/plinthgo/plinth/dbplugins/oracle"
)

func ExampleDriver() {
	parts := driver.Config{
		Host: "db.example", User: "app", Pass: "s3cret/with:odd@signs",
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "FREEPDB1"},
	}
	options := xdb.Options{Driver: "oracle", Parts: parts}
	fmt.Println(xdb.Resolve(options))

	options = xdb.Options{
		Driver: "oracle",
		DSN:    xlog.Secret("oracle://app:s3cret@db.example:1521/FREEPDB1?SSL=true"),
	}
	fmt.Println(xdb.Resolve(options))

	_, err := xdb.Resolve(xdb.Options{
		Driver: "oracle",
		Parts:  driver.Config{User: "app", Pass: "s3cret"},
	})
	fmt.Println(err)
	// Output:
	// oracle db.example:1521/FREEPDB1 <nil>
	// oracle db.example:1521/FREEPDB1 <nil>
	// DATABASE_SERVICE_NAME: is not set
}
