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

// limitsFile has the programs of users and what they may weigh and link; it is named from
// the root.
const limitsFile = "tools/release/consumers.yaml"

// limits are the contents of the file.
type limits struct {
	// Platform is the one on which the sizes were measured: linux/amd64.
	Platform string `yaml:"platform"`
	// Libraries are the modules that a program links only where it says so, by a short
	// name.
	Libraries map[string]string `yaml:"libraries"`
	Consumers []consumer        `yaml:"consumers"`
	Commands  []command         `yaml:"commands"`
}

// A consumer is a program that requires some modules of the repository and nothing else
// of it.
type consumer struct {
	Name      string   `yaml:"name"`
	Modules   []string `yaml:"modules"` // the last is the one that the program is about
	Program   string   `yaml:"program"` // its folder, from the root
	Links     []string `yaml:"links"`   // those of the libraries that it has to link
	Megabytes float64  `yaml:"megabytes"`
	Linked    int      `yaml:"linked"` // modules
}

// A command is a package that users install.
type command struct {
	Module  string `yaml:"module"`
	Package string `yaml:"package"` // its folder in the module
}

func (c consumer) last() string { return c.Modules[len(c.Modules)-1] }

func (c command) path() string { return path.Join(c.Module, c.Package) }

// readLimits reads the file, and refuses one that names what is not there, or that has no
// program or command for a module.
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
	if err := errors.Join(l.named(modules), l.served(modules)); err != nil {
		return nil, fmt.Errorf("%s: %w", limitsFile, err)
	}
	return l, nil
}

// named refuses names of modules and libraries that are not there.
func (l *limits) named(modules []workspace.Module) error {
	var problems []error
	known := func(by, name string) {
		if !slices.ContainsFunc(modules,
			func(m workspace.Module) bool { return m.Name == name && m.Released() }) {
			problems = append(problems,
				fmt.Errorf("%s names %q, which is no module that is released", by, name))
		}
	}
	for _, c := range l.Consumers {
		if len(c.Modules) == 0 || c.Program == "" {
			return fmt.Errorf("%s needs modules and a program", c.Name)
		}
		for _, name := range c.Modules {
			known(c.Name, name)
		}
		for _, name := range c.Links {
			if l.Libraries[name] == "" {
				problems = append(problems,
					fmt.Errorf("%s links %q, which is none of the libraries", c.Name, name))
			}
		}
	}
	for _, c := range l.Commands {
		known(c.path(), c.Module)
	}
	return errors.Join(problems...)
}

// served refuses a released module for which there is neither a program nor a command.
func (l *limits) served(modules []workspace.Module) error {
	var problems []error
	for _, m := range modules {
		if !m.Released() || slices.ContainsFunc(l.Consumers,
			func(c consumer) bool { return c.last() == m.Name }) ||
			slices.ContainsFunc(l.Commands, func(c command) bool { return c.Module == m.Name }) {
			continue
		}
		problems = append(problems, fmt.Errorf("no program uses %s: add its smallest one", m.Name))
	}
	return errors.Join(problems...)
}
