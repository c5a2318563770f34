// Package faultylease is a backend of leases with a faulty connection, for the tests of xlease and of
// what is built on it.
package faultylease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// ErrDown is the error of a backend that is Down.
var ErrDown = errors.New("the server is down")

// Backend is a correct backend with a faulty connection to it. Fields are changed with Set.
type Backend struct {
	driver.Backend

	mu       sync.Mutex
	Down     bool                 // no call arrives
	Hang     bool                 // calls arrive, and their answers do not come until ctx ends
	Late     time.Duration        // answers come so late, whatever ctx says
	Stolen   bool                 // another holder has everything
	Reports  *driver.Capabilities // instead of its own
	Age      *time.Duration       // of every grant
	Acquires int
	renewals int
	releases []driver.Holding
}

// Set changes the faults.
func (s *Backend) Set(change func(s *Backend)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Released returns the calls of Release.
func (s *Backend) Released() []driver.Holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]driver.Holding(nil), s.releases...)
}

// Renewed is the number of renewals.
func (s *Backend) Renewed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewals
}

func (s *Backend) line(ctx context.Context, count func(), call func() error) error {
	s.mu.Lock()
	count()
	down, hang, late := s.Down, s.Hang, s.Late
	s.mu.Unlock()
	if down {
		return ErrDown
	}
	err := call()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if late > 0 {
		<-time.After(late)
	}
	return err
}

// Acquire implements driver.Backend.
func (s *Backend) Acquire(ctx context.Context, r driver.Request) (g driver.Grant, err error) {
	err = s.line(ctx, func() { s.Acquires++ }, func() error {
		g, err = s.Backend.Acquire(ctx, r)
		return err
	})
	if s.Age != nil {
		g.Age = *s.Age
	}
	return g, err
}

// Renew implements driver.Backend.
func (s *Backend) Renew(ctx context.Context, h driver.Holding) (held bool, err error) {
	err = s.line(ctx, func() { s.renewals++ }, func() error {
		held, err = s.Backend.Renew(ctx, h)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return held && !s.Stolen, err
}

// Release implements driver.Backend.
func (s *Backend) Release(ctx context.Context, h driver.Holding) (held bool, err error) {
	err = s.line(ctx, func() { s.releases = append(s.releases, h) }, func() error {
		held, err = s.Backend.Release(ctx, h)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return held && !s.Stolen, err
}

// Capabilities implements driver.Backend.
func (s *Backend) Capabilities() driver.Capabilities {
	if s.Reports != nil {
		return *s.Reports
	}
	return s.Backend.Capabilities()
}
