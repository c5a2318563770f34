// Program oracle is program users on Oracle.
package main

import (
	_ "github.com/plinthgo/plinth/dbplugins/oracle"
	"github.com/plinthgo/plinth/tools/footprint/hello/internal/users"
)

func main() { users.Main() }
