// Package xoptcache contains the most common options of package xcache under the names
// that the specification requires.
//
//	xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithDefaultTTL(time.Hour))
//
// They can be combined with any other xcache.ManagerOption.
package xoptcache

import (
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// Option is xcache.ManagerOption.
type Option = xcache.ManagerOption

// FromEnv is xcache.FromEnv.
func FromEnv() Option { return xcache.FromEnv() }

// WithDriver is xcache.WithDriver.
func WithDriver(name string) Option { return xcache.WithDriver(name) }

// WithDefaultTTL is xcache.WithDefaultTTL.
func WithDefaultTTL(ttl time.Duration) Option { return xcache.WithDefaultTTL(ttl) }

// WithPrefix is xcache.WithPrefix.
func WithPrefix(prefix string) Option { return xcache.WithPrefix(prefix) }

// WithFailOpen is xcache.WithFailOpen.
func WithFailOpen() Option { return xcache.WithFailOpen() }
