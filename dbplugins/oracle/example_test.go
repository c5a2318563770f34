package oracle_test

import (
	"fmt"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	_ "github.com/plinthgo/plinth/dbplugins/oracle"
)

func ExampleDriver() {
	parts := driver.Config{Host: "db.example", User: "app", Pass: "s3cret/with:odd@signs", ServiceName: "FREEPDB1"}
	options := xDB.Options{Driver: "oracle", Parts: parts}
	fmt.Println(xDB.Check(options), xDB.Describe(options))

	options = xDB.Options{Driver: "oracle", DSN: xLog.Secret("oracle://app:s3cret@db.example:1521/FREEPDB1?SSL=true")}
	fmt.Println(xDB.Check(options), xDB.Describe(options))

	fmt.Println(xDB.Check(xDB.Options{Driver: "oracle", Parts: driver.Config{User: "app", Pass: "s3cret"}}))
	// Output:
	// <nil> oracle db.example:1521/FREEPDB1
	// <nil> oracle db.example:1521/FREEPDB1
	// DATABASE_SERVICE_NAME: is not set
}
