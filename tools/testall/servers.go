package main

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/server"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// servers returns the kinds that the tests of the modules can use: a plugin's that of its name, other modules' all, except for
// the two that know no server.
func servers(modules []workspace.Module) []*server.Kind {
	return slices.DeleteFunc(server.Kinds(), func(k *server.Kind) bool {
		return !slices.ContainsFunc(modules, func(m workspace.Module) bool { return uses(m.Name, k.Name) })
	})
}

func uses(module, kind string) bool {
	family, name := path.Split(module)
	if family == "dbplugins/" || family == "cacheplugins/" {
		return name == kind
	}
	return module != "core" && module != "tools"
}

// required are the names in PLINTH_TEST_REQUIRE.
func required() []string {
	return strings.FieldsFunc(os.Getenv("PLINTH_TEST_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' })
}
