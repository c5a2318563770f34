package main

// The databases that the environment can choose with DATABASE_DRIVER.
import (
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)
