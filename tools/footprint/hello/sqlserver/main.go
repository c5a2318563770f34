// Program sqlserver is program users on SQL Server.
package main

import (
	_ "github.com/plinthgo/plinth/dbplugins/sqlserver"
	"github.com/plinthgo/plinth/tools/footprint/hello/internal/users"
)

func main() { users.Main() }
