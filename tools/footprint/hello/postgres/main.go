// Program postgres is program users on PostgreSQL.
package main

import (
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	"github.com/plinthgo/plinth/tools/footprint/hello/internal/users"
)

func main() { users.Main() }
