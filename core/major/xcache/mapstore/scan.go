package mapstore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// pageSize is how many keys come in one page of a walk.
const pageSize = 100

// Scan implements driver.Scanner. As a server may, it gives a key twice: the last of a page is in the next, too.
func (s *Store) Scan(ctx context.Context, prefix string, page func(keys []string) bool) error {
	keys, err := s.under(ctx, prefix)
	for at := 0; err == nil && at < len(keys); at += pageSize - 1 {
		if err = s.Ping(ctx); err != nil || !page(keys[at:min(at+pageSize, len(keys))]) {
			return err
		}
	}
	return err
}

// under returns the keys that begin with prefix.
func (s *Store) under(ctx context.Context, prefix string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(s.entries)), func(key string) bool {
		return !strings.HasPrefix(key, prefix)
	})
	return slices.DeleteFunc(keys, func(key string) bool { return s.live(key) == nil }), nil
}

// LeaseBackend implements driver.Leaser.
func (s *Store) LeaseBackend(prefix string) leasedriver.Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.leases[prefix]
	if !ok {
		b = xlease.InProcess(s.now)
		s.leases[prefix] = b
	}
	return b
}

var (
	_ driver.Batcher = (*Store)(nil)
	_ driver.Scanner = (*Store)(nil)
	_ driver.Leaser  = (*Store)(nil)
)
