package oracle_test

import _ "github.com/plinthgo/plinth/dbplugins/oracle"
