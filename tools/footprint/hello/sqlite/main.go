// Program sqlite is program users on SQLite.
package main

import (
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/tools/footprint/hello/internal/users"
)

func main() { users.Main() }
