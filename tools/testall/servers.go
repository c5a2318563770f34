package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/devstack/programs"
	"github.com/plinthgo/plinth/tools/devstack/server"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// uses lists the servers and programs that the tests of each module can use.
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
	"examples":            {"postgres", "mysql", "redis", "node"},
	"grpcx":               nil,
	"grpcx/protovalidate": nil,
	"notifyx":             {"postfix"},
	"openapix":            nil,
	"tools":               {"postgres", "redis"},
	"tools/devstack":      {"postgres", "mysql", "redis", "postfix"},
	"tools/plinth":        {"postgres", "redis"},
}

// kindsOf returns the kinds of servers that the modules can use. Modules that are not in
// uses can use all kinds.
func kindsOf(modules []workspace.Module) []*server.Kind {
	return slices.DeleteFunc(server.Kinds(), func(k *server.Kind) bool {
		return !slices.ContainsFunc(modules, func(m workspace.Module) bool {
			kinds, known := uses[m.Name]
			return !known || slices.Contains(kinds, k.Name)
		})
	})
}

// checkPrograms returns an error if a required program that the modules use is not
// installed.
func checkPrograms(modules []workspace.Module, required []string) error {
	var problems []error
	for _, p := range programs.All() {
		used := slices.ContainsFunc(modules,
			func(m workspace.Module) bool { return slices.Contains(uses[m.Name], p.Name) })
		if !used || !slices.Contains(required, p.Name) {
			continue
		}
		if err := p.Look(); err != nil {
			problems = append(problems,
				fmt.Errorf("PLINTH_TEST_REQUIRE: %s is required: %w", p.Name, err))
		}
	}
	return errors.Join(problems...)
}

// backends are the valid names in PLINTH_TEST_REQUIRE.
var backends = []string{
	"sqlite", "memory", "postgres", "mysql", "redis", "postfix", "sqlserver", "oracle",
	"node", "chromium",
}

// checkRequired returns an error if a required backend is unknown, or if its server
// cannot be started privately and is not in the environment.
func checkRequired(required []string) error {
	var problems []error
	for _, name := range required {
		variable := "PLINTH_TEST_" + strings.ToUpper(name) + "_DSN"
		switch {
		case !slices.Contains(backends, name):
			problems = append(problems,
				fmt.Errorf("PLINTH_TEST_REQUIRE: unknown backend %q; available: %s",
					name, strings.Join(backends, ", ")))
		case (name == "sqlserver" || name == "oracle") && os.Getenv(variable) == "":
			problems = append(problems,
				fmt.Errorf("PLINTH_TEST_REQUIRE: %s is required, but %s is not set", name, variable))
		}
	}
	return errors.Join(problems...)
}

// required returns the names in PLINTH_TEST_REQUIRE.
func required() []string {
	return strings.FieldsFunc(os.Getenv("PLINTH_TEST_REQUIRE"),
		func(r rune) bool { return r == ',' || r == ' ' })
}
