package memory

import (
	"context"
	"strings"
)

const (
	// page is how many keys come at a time at most.
	page = 256
	// stride is how many entries are looked at before what was found is handed out, and
	// before the context is.
	stride = 1 << 10
)

// Scan implements driver.Scanner. The engine shows a few entries at a time, each few
// under a lock of their own, and the calls of give are under none.
func (s *store) Scan(
	ctx context.Context, prefix string, give func(keys []string) bool,
) (err error) {
	var keys []string
	hand := func() bool { // out what was found
		if err = s.ready(ctx); err != nil || len(keys) == 0 {
			return err == nil
		}
		full := keys
		keys = make([]string, 0, page)
		return give(full)
	}
	seen := 0
	for key, e := range s.engine.All() {
		if strings.HasPrefix(key, prefix) && !s.ended(e) {
			keys = append(keys, key)
		}
		if seen++; len(keys) < page && seen%stride != 0 {
			continue
		}
		if !hand() {
			return err
		}
	}
	hand()
	return err
}

// ready is the error of a call that goes on.
func (s *store) ready(ctx context.Context) error {
	if err := s.err(); err != nil {
		return err
	}
	return ctx.Err()
}
