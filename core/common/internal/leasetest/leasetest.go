// Package leasetest provides a lease backend with a faulty connection, for the tests of
// xlease and its users.
package leasetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// ErrDown is the error of a backend that is Down.
var ErrDown = errors.New("the server is down")

// Backend is a correct backend with a faulty connection. Change its fields with Set.
type Backend struct {
	driver.Backend

	mu       sync.Mutex
	Down     bool                 // calls fail
	Hang     bool                 // calls succeed, but return the error of ctx when it is done
	Late     time.Duration        // delay of responses, regardless of ctx
	Stolen   bool                 // another holder has every lease
	Reports  *driver.Capabilities // replaces the capabilities of the backend
	Age      *time.Duration       // replaces the age of grants
	Acquires int
	renewals int
	releases int
}

// Set changes the faults.
func (s *Backend) Set(change func(s *Backend)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Released returns the number of releases.
func (s *Backend) Released() (n int) {
	s.Set(func(s *Backend) { n = s.releases })
	return n
}

// Renewed returns the number of renewals.
func (s *Backend) Renewed() (n int) {
	s.Set(func(s *Backend) { n = s.renewals })
	return n
}

// call runs do over the faulty connection. held is the result that the holder receives.
func (s *Backend) call(
	ctx context.Context, count *int, do func() (bool, error),
) (held bool, err error) {
	s.mu.Lock()
	*count++
	down, hang, late := s.Down, s.Hang, s.Late
	s.mu.Unlock()
	if down {
		return false, ErrDown
	}
	held, err = do()
	if hang {
		<-ctx.Done()
		err = ctx.Err()
	} else if late > 0 {
		<-time.After(late)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return held && !s.Stolen, err
}

// Acquire implements driver.Backend.
func (s *Backend) Acquire(ctx context.Context, r driver.Request) (g driver.Grant, err error) {
	_, err = s.call(ctx, &s.Acquires, func() (held bool, err error) {
		g, err = s.Backend.Acquire(ctx, r)
		return g.OK, err
	})
	if s.Age != nil {
		g.Age = *s.Age
	}
	return g, err
}

// Renew implements driver.Backend.
func (s *Backend) Renew(ctx context.Context, h driver.Holding) (held bool, err error) {
	return s.call(ctx, &s.renewals, func() (bool, error) { return s.Backend.Renew(ctx, h) })
}

// Release implements driver.Backend.
func (s *Backend) Release(ctx context.Context, h driver.Holding) (held bool, err error) {
	return s.call(ctx, &s.releases, func() (bool, error) { return s.Backend.Release(ctx, h) })
}

// Capabilities implements driver.Backend.
func (s *Backend) Capabilities() driver.Capabilities {
	if s.Reports != nil {
		return *s.Reports
	}
	return s.Backend.Capabilities()
}
