package memory

import (
	"context"
	"strings"
)

const (
	// page is the maximum number of keys in a page.
	page = 256
	// stride is the number of entries to inspect before the next page and the next check
	// of the context.
	stride = 1 << 10
)

// Scan implements driver.Scanner. The engine locks only a few entries at a time, and
// calls of yield hold no lock.
func (s *store) Scan(
	ctx context.Context, prefix string, yield func(keys []string) bool,
) (err error) {
	var keys []string
	flush := func() bool {
		if err = s.ready(ctx); err != nil || len(keys) == 0 {
			return err == nil
		}
		full := keys
		keys = make([]string, 0, page)
		return yield(full)
	}
	seen := 0
	for key, e := range s.engine.All() {
		if strings.HasPrefix(key, prefix) && !s.ended(e) {
			keys = append(keys, key)
		}
		if seen++; len(keys) < page && seen%stride != 0 {
			continue
		}
		if !flush() {
			return err
		}
	}
	flush()
	return err
}

// ready returns the error of a closed store or of an ended context.
func (s *store) ready(ctx context.Context) error {
	if err := s.err(); err != nil {
		return err
	}
	return ctx.Err()
}
