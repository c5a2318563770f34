package verify

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
)

// check returns an error if a program links forbidden libraries or exceeds its limits.
func (l *limits) check(c consumer, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	file, err := os.Stat(binary)
	if err != nil {
		return err
	}
	problems := l.foreign(c, info.Deps)
	if n := len(info.Deps); c.Linked > 0 && n > c.Linked {
		problems = append(problems,
			fmt.Errorf("it links %d modules, and its budget in %s is %d: find out with go version -m what is new, "+
				"and do without, or raise the budget and say why", n, limitsFile, c.Linked))
	}
	size := float64(file.Size()) / 1e6
	if l.measuredHere() && c.Megabytes > 0 && size > c.Megabytes {
		problems = append(problems,
			fmt.Errorf("it has %.2f MB, and its budget in %s is %.1f MB: find out what it links that it did not, "+
				"and do without, or raise the budget and say why", size, limitsFile, c.Megabytes))
	}
	return errors.Join(problems...)
}

// measuredHere reports whether the sizes are those of this platform.
func (l *limits) measuredHere() bool { return l.Platform == runtime.GOOS+"/"+runtime.GOARCH }

// foreign returns what is wrong with the libraries that a program links: those of others,
// or not its own.
func (l *limits) foreign(c consumer, deps []*debug.Module) []error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(l.Libraries)) {
		library := l.Libraries[name]
		links := slices.ContainsFunc(deps, func(m *debug.Module) bool { return m.Path == library })
		switch own := slices.Contains(c.Links, name); {
		case links && !own:
			problems = append(problems,
				fmt.Errorf("it links %s, which is forbidden to who imports %v: find the import with go mod why -m %[1]s, "+
					"and move it into a module of its own", library, c.Modules))
		case own && !links:
			problems = append(problems,
				fmt.Errorf("it does not link %s, and %s says that it does: take that out",
					library, limitsFile))
		}
	}
	return problems
}
