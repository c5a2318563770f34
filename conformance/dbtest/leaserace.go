package dbtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// RaceForLeases acquires, renews and releases three slots of a name from ten goroutines.
// It reports slots with two holders, tokens that do not increase, and every error. It is
// also a check of the suite. A driver's test may run it with another configuration, such
// as another transaction isolation.
func RaceForLeases(tb testing.TB, b leasedriver.Backend) {
	tb.Helper()
	r := slotRace{b: b, owners: map[int]string{}, tokens: map[int]int64{}}
	check(tb, firstError(inParallel(10, func(int) error {
		for range 50 {
			if err := r.round(tb); err != nil {
				return err
			}
		}
		return nil
	})), "race")
	tb.Logf("%d grants", r.grants)
	if r.grants == 0 {
		tb.Error("no request acquired a slot")
	}
}

// slotRace is the state that the goroutines of a race share.
type slotRace struct {
	b leasedriver.Backend

	mu     sync.Mutex
	owners map[int]string
	tokens map[int]int64
	grants int
}

func (s *slotRace) round(tb testing.TB) error {
	r := newRequest("slots")
	r.Count, r.Begin = 3, 1
	g, err := s.b.Acquire(tb.Context(), r)
	if err != nil || !g.OK {
		return err
	}
	h := holding(r, g)
	if err := s.acquired(h); err != nil {
		return err
	}
	renewed, renewErr := s.b.Renew(tb.Context(), h)
	s.mu.Lock()
	delete(s.owners, h.Slot)
	s.mu.Unlock()
	released, releaseErr := s.b.Release(tb.Context(), h)
	if err := errors.Join(renewErr, releaseErr); err != nil || !renewed || !released {
		return fmt.Errorf("renewed %t, released %t: %w", renewed, released, err)
	}
	return nil
}

// acquired records the holder of a slot.
func (s *slotRace) acquired(h leasedriver.Holding) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners[h.Slot] != "" || h.Token <= s.tokens[h.Slot] {
		return fmt.Errorf("slot %d, held by %q with token %d, was granted to %q with token %d",
			h.Slot, s.owners[h.Slot], s.tokens[h.Slot], h.Holder, h.Token)
	}
	s.owners[h.Slot], s.tokens[h.Slot] = h.Holder, h.Token
	s.grants++
	return nil
}
