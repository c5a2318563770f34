package memory

import (
	"context"
	"strings"
)

const (
	// pageSize is the maximum number of keys in a page.
	pageSize = 256
	// stride is the number of entries after which Scan ends a page and checks the
	// context.
	stride = 1 << 10
)

// Scan implements driver.Scanner. The engine locks only a few entries at a time, and no
// lock is held while yield runs.
func (s *store) Scan(
	ctx context.Context, prefix string, yield func(keys []string) bool,
) (err error) {
	var keys []string
	flush := func() bool {
		if err = s.ready(ctx); err != nil || len(keys) == 0 {
			return err == nil
		}
		full := keys
		keys = make([]string, 0, pageSize)
		return yield(full)
	}
	seen := 0
	for key, e := range s.engine.All() {
		if strings.HasPrefix(key, prefix) && !s.isExpired(e) {
			keys = append(keys, key)
		}
		if seen++; len(keys) < pageSize && seen%stride != 0 {
			continue
		}
		if !flush() {
			return err
		}
	}
	flush()
	return err
}

// ready returns an error if the store is closed or ctx has ended.
func (s *store) ready(ctx context.Context) error {
	if err := s.err(); err != nil {
		return err
	}
	return ctx.Err()
}
