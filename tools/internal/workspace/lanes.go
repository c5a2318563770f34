package workspace

import (
	"errors"
	"fmt"
	"sync"
)

// lanes is how many modules are worked at together: they are of very different lengths, and much of a test is waiting for a
// server or for time to pass.
const lanes = 2

// InLanes calls do for every module, for two at the same time, and returns the errors with the names of the modules, in the
// order of these.
func InLanes(modules []Module, do func(m Module) error) error {
	problems := make([]error, len(modules))
	next := make(chan int)
	var all sync.WaitGroup
	for range lanes {
		all.Go(func() {
			for i := range next {
				if err := do(modules[i]); err != nil {
					problems[i] = fmt.Errorf("%s: %w", modules[i].Name, err)
				}
			}
		})
	}
	for i := range modules {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(problems...)
}
