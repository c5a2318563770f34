package memory

import "sync"

// tasks are the engine's maintenance tasks, each a goroutine of its own that Close waits for.
type tasks struct {
	mu     sync.RWMutex
	closed bool
	group  sync.WaitGroup
}

// run is the engine's executor.
func (t *tasks) run(task func()) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return
	}
	t.group.Go(task)
}

// wait ends all tasks, and those to come.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.group.Wait()
}
