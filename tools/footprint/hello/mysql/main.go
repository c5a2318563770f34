// Program mysql is program users on MySQL and MariaDB.
package main

import (
	_ "github.com/plinthgo/plinth/dbplugins/mysql"
	"github.com/plinthgo/plinth/tools/footprint/hello/internal/users"
)

func main() { users.Main() }
