package snippets_test

import _ "github.com/plinthgo/plinth/dbplugins/sqlite"
