// Package plugins imports every driver and extension of Plinth, so that the program can
// connect to the backends of any service and lists all variables.
package plugins

import (
	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	_ "github.com/plinthgo/plinth/core/major/xreg" // registers the variables of the server
	_ "github.com/plinthgo/plinth/dbplugins/mysql"
	_ "github.com/plinthgo/plinth/dbplugins/oracle"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	_ "github.com/plinthgo/plinth/dbplugins/sqlserver"
	_ "github.com/plinthgo/plinth/grpcx/runner"
	_ "github.com/plinthgo/plinth/notifyx/email"
)
