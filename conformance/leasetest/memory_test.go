package leasetest_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// forgetful is an in-process backend that supports Forget.
type forgetful struct {
	driver.Backend

	mu          sync.Mutex
	generations map[string]int // number of calls of Forget by name
}

func newForgetful() *forgetful {
	return &forgetful{Backend: xlease.InProcess(nil), generations: map[string]int{}}
}

// Capabilities implements driver.Backend.
func (*forgetful) Capabilities() driver.Capabilities {
	return driver.Capabilities{Scope: driver.Host, Name: "forgetful"}
}

// Forget maps name to a new name.
func (f *forgetful) Forget(_ testing.TB, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.generations[name]++
}

// currentName returns the name of the records since the last Forget.
func (f *forgetful) currentName(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return name + " " + strconv.Itoa(f.generations[name])
}

// Acquire implements driver.Backend.
func (f *forgetful) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	r.Name = f.currentName(r.Name)
	return f.Backend.Acquire(ctx, r)
}

// Renew implements driver.Backend.
func (f *forgetful) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	h.Name = f.currentName(h.Name)
	return f.Backend.Renew(ctx, h)
}

// Release implements driver.Backend.
func (f *forgetful) Release(ctx context.Context, h driver.Holding) (bool, error) {
	h.Name = f.currentName(h.Name)
	return f.Backend.Release(ctx, h)
}
