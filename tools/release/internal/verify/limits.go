package verify

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// limitsFile defines the consumers and their limits. Its path is relative to the root.
const limitsFile = "tools/release/consumers.yaml"

// limits is the content of limitsFile.
type limits struct {
	// Platform is the platform on which the sizes were measured, such as linux/amd64.
	Platform string `yaml:"platform"`
	// Libraries maps short names to modules. A program must list the libraries that it
	// links.
	Libraries map[string]string `yaml:"libraries"`
	Consumers []consumer        `yaml:"consumers"`
	Commands  []command         `yaml:"commands"`
}

// A consumer is a program that requires some modules of the repository and no others.
type consumer struct {
	Name      string   `yaml:"name"`
	Modules   []string `yaml:"modules"` // the last is the subject of the program
	Program   string   `yaml:"program"` // its directory, relative to the root
	Links     []string `yaml:"links"`   // names of the libraries that it must link
	Megabytes float64  `yaml:"megabytes"`
	Linked    int      `yaml:"linked"` // maximum number of modules
}

// A command is a package that users install.
type command struct {
	Module  string `yaml:"module"`
	Package string `yaml:"package"` // its directory in the module
}

func (c consumer) last() string { return c.Modules[len(c.Modules)-1] }

func (c command) path() string { return path.Join(c.Module, c.Package) }

// readLimits reads limitsFile. It returns an error for unknown names and for released
// modules without a program or command.
func readLimits(root string, modules []workspace.Module) (*limits, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(limitsFile)))
	if err != nil {
		return nil, err
	}
	l := &limits{}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(l); err != nil {
		return nil, fmt.Errorf("%s: %w", limitsFile, err)
	}
	if err := errors.Join(l.checkNames(modules), l.checkCoverage(modules)); err != nil {
		return nil, fmt.Errorf("%s: %w", limitsFile, err)
	}
	return l, nil
}

// checkNames returns an error for unknown modules and libraries.
func (l *limits) checkNames(modules []workspace.Module) error {
	var problems []error
	known := func(by, name string) {
		if !slices.ContainsFunc(modules,
			func(m workspace.Module) bool { return m.Name == name && m.Released() }) {
			problems = append(problems,
				fmt.Errorf("%s: module %q is not a released module", by, name))
		}
	}
	for _, c := range l.Consumers {
		if len(c.Modules) == 0 || c.Program == "" {
			return fmt.Errorf("%s: modules or program is missing", c.Name)
		}
		for _, name := range c.Modules {
			known(c.Name, name)
		}
		for _, name := range c.Links {
			if l.Libraries[name] == "" {
				problems = append(problems,
					fmt.Errorf("%s: library %q is not defined in libraries", c.Name, name))
			}
		}
	}
	for _, c := range l.Commands {
		known(c.path(), c.Module)
	}
	return errors.Join(problems...)
}

// checkCoverage returns an error for each released module without a program or command.
func (l *limits) checkCoverage(modules []workspace.Module) error {
	var problems []error
	for _, m := range modules {
		if !m.Released() || slices.ContainsFunc(l.Consumers,
			func(c consumer) bool { return c.last() == m.Name }) ||
			slices.ContainsFunc(l.Commands, func(c command) bool { return c.Module == m.Name }) {
			continue
		}
		problems = append(problems,
			fmt.Errorf("no consumer uses module %s: add a minimal program", m.Name))
	}
	return errors.Join(problems...)
}
