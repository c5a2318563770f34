package main

import (
	"errors"
	"fmt"
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

// backends are the names that PLINTH_TEST_REQUIRE may hold.
var backends = []string{"sqlite", "memory", "postgres", "mysql", "redis", "sqlserver", "oracle"}

// refused returns an error where no run could have all of the required backends: a name is unknown, or a server that is never
// started privately is not given.
func refused(required []string) error {
	var problems []error
	for _, name := range required {
		variable := "PLINTH_TEST_" + strings.ToUpper(name) + "_DSN"
		switch {
		case !slices.Contains(backends, name):
			problems = append(problems, fmt.Errorf("PLINTH_TEST_REQUIRE: there is no backend %q, only %s", name, strings.Join(backends, ", ")))
		case (name == "sqlserver" || name == "oracle") && os.Getenv(variable) == "":
			problems = append(problems, fmt.Errorf("PLINTH_TEST_REQUIRE: %s is required: %s is not set", name, variable))
		}
	}
	return errors.Join(problems...)
}

// required are the names in PLINTH_TEST_REQUIRE.
func required() []string {
	return strings.FieldsFunc(os.Getenv("PLINTH_TEST_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' })
}
