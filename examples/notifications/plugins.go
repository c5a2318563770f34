package main

// Backends for DATABASE_DRIVER and NOSQL_DRIVER.
import (
	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)
