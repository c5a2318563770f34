package sqlserver_test

import _ "github.com/plinthgo/plinth/dbplugins/sqlserver"
