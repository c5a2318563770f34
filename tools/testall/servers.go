package main

import (
	"os"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/devstack/server"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// uses are the kinds of server, and the other programs, that the tests of each module can use.
var uses = map[string][]string{
	"asyncx":              {"postgres", "mysql"},
	"asyncx/asynq":        {"redis"},
	"asyncx/river":        {"postgres"},
	"cacheplugins/memory": nil,
	"cacheplugins/redis":  {"redis"},
	"conformance":         nil,
	"core":                nil,
	"cronx":               {"postgres", "mysql", "redis"},
	"dbplugins/mysql":     {"mysql"},
	"dbplugins/oracle":    nil,
	"dbplugins/postgres":  {"postgres"},
	"dbplugins/sqlite":    nil,
	"dbplugins/sqlserver": nil,
	"docs":                {"node", "chromium"},
	"examples":            {"postgres", "mysql", "redis"},
	"grpcx":               nil,
	"grpcx/protovalidate": nil,
	"notifyx":             {"postfix"},
	"tools":               {"postgres", "redis"},
	"tools/devstack":      {"postgres", "mysql", "redis", "postfix"},
	"tools/plinth":        {"postgres", "redis"},
}

// kindsOf returns the kinds that the tests of the modules can use. A module that uses does not name gets all.
func kindsOf(modules []workspace.Module) []*server.Kind {
	return slices.DeleteFunc(server.Kinds(), func(k *server.Kind) bool {
		return !slices.ContainsFunc(modules, func(m workspace.Module) bool {
			kinds, known := uses[m.Name]
			return !known || slices.Contains(kinds, k.Name)
		})
	})
}

// required are the names in PLINTH_TEST_REQUIRE.
func required() []string {
	return strings.FieldsFunc(os.Getenv("PLINTH_TEST_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' })
}
