package footprint

import (
	"errors"
	"fmt"
	"slices"
)

// The budget of core over plain gin.
const (
	budgetBytes   = 3_000_000
	budgetModules = 15
)

// Check refuses a core that costs more than was promised, and a program that links a library which it has no use for.
func (s Sizes) Check() error { return errors.Join(budget(s["gin"], s["core"]), foreign(s)) }

// budget refuses a core that costs more than was promised.
func budget(gin, core measured) error {
	var problems []error
	if over := core.bytes - gin.bytes; over > budgetBytes {
		problems = append(problems, fmt.Errorf("core is %.2f MB over gin; the budget is %.1f MB", mb(over), mb(budgetBytes)))
	}
	if over := core.modules - gin.modules; over > budgetModules {
		problems = append(problems, fmt.Errorf("core links %d modules more than gin; the budget is %d", over, budgetModules))
	}
	return errors.Join(problems...)
}

// guarded returns every library that some program names.
func guarded() []string {
	var all []string
	for _, p := range programs {
		all = append(all, p.libraries...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// foreign refuses a program that links the library of a backend which it does not import, or not that of its own.
func foreign(sizes Sizes) error {
	var problems []error
	for _, p := range programs {
		for _, library := range guarded() {
			links := slices.Contains(sizes[p.folder].links, library)
			if own := slices.Contains(p.libraries, library); links != own {
				problems = append(problems, fmt.Errorf("program %s links %s: %t, want %t", p.folder, library, links, own))
			}
		}
	}
	return errors.Join(problems...)
}
