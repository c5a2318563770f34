package dbtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// RaceForLeases lets ten take, renew and release three slots of a name again and again,
// and complains of a slot that two have, of a token that does not grow, and of every
// error. It is also a case of the suite; a driver's own test may run it on a database
// that is set up otherwise, such as with another isolation of transactions.
func RaceForLeases(tb testing.TB, b leasedriver.Backend) {
	tb.Helper()
	r := slotRace{b: b, owners: map[int]string{}, tokens: map[int]int64{}}
	check(tb, firstOf(inParallel(10, func(int) error {
		for range 50 {
			if err := r.round(tb); err != nil {
				return err
			}
		}
		return nil
	})), "race")
	if tb.Logf("%d grants", r.grants); r.grants == 0 {
		tb.Error("nobody got a slot")
	}
}

// slotRace is what the racers tell each other.
type slotRace struct {
	b leasedriver.Backend

	mu     sync.Mutex
	owners map[int]string
	tokens map[int]int64
	grants int
}

func (s *slotRace) round(tb testing.TB) error {
	r := lock("slots")
	r.Count, r.Begin = 3, 1
	g, err := s.b.Acquire(tb.Context(), r)
	if err != nil || !g.OK {
		return err
	}
	h := held(r, g)
	if err := s.got(h); err != nil {
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

// got notes the owner of a slot.
func (s *slotRace) got(h leasedriver.Holding) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners[h.Slot] != "" || h.Token <= s.tokens[h.Slot] {
		return fmt.Errorf("slot %d, held by %q with token %d, went to %q with token %d",
			h.Slot, s.owners[h.Slot], s.tokens[h.Slot], h.Holder, h.Token)
	}
	s.owners[h.Slot], s.tokens[h.Slot] = h.Holder, h.Token
	s.grants++
	return nil
}
