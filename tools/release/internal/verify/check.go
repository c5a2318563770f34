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
	problems := l.checkLibraries(c, info.Deps)
	if n := len(info.Deps); c.Linked > 0 && n > c.Linked {
		problems = append(problems,
			fmt.Errorf("the program links %d modules, but its limit in %s is %d: find the new "+
				"ones with go version -m and remove them, or raise the limit and give the reason", n, limitsFile, c.Linked))
	}
	size := float64(file.Size()) / 1e6
	if l.measuredHere() && c.Megabytes > 0 && size > c.Megabytes {
		problems = append(problems,
			fmt.Errorf("the program has %.2f MB, but its limit in %s is %.1f MB: find and "+
				"remove new dependencies, or raise the limit and give the reason", size, limitsFile, c.Megabytes))
	}
	return errors.Join(problems...)
}

// measuredHere reports whether the sizes were measured on this platform.
func (l *limits) measuredHere() bool { return l.Platform == runtime.GOOS+"/"+runtime.GOARCH }

// checkLibraries returns an error for each forbidden library that a program links and for
// each expected one that it does not link.
func (l *limits) checkLibraries(c consumer, deps []*debug.Module) []error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(l.Libraries)) {
		library := l.Libraries[name]
		links := slices.ContainsFunc(deps, func(m *debug.Module) bool { return m.Path == library })
		switch own := slices.Contains(c.Links, name); {
		case links && !own:
			problems = append(problems,
				fmt.Errorf("the program links %s, which is forbidden for consumers of %v: "+
					"find the import with go mod why -m %[1]s, and move it to a separate module", library, c.Modules))
		case own && !links:
			problems = append(problems,
				fmt.Errorf("the program does not link %s: remove it from links in %s",
					library, limitsFile))
		}
	}
	return problems
}
