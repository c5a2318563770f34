// Package replica sends reads to copies of a database.
package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

const name = "plinth:replicas"

// Router is a gorm plugin that sends reads to replicas.
//
// It replaces the pool of a statement only if that is the pool of the database or of a
// replica. Transactions and the single connection of gorm's Connection have another pool
// and stay on the primary.
type Router struct {
	primary gorm.ConnPool
	dialect string
	all     []*Replica
	turn    atomic.Uint32

	watchers sync.WaitGroup
	stop     context.CancelFunc // stops the watchers
}

// New returns a Router for replicas. Call Start after it is registered as a plugin.
func New(replicas []*Replica) *Router { return &Router{all: replicas, stop: func() {}} }

// Of returns the Router of db, or nil.
func Of(db *gorm.DB) *Router {
	r, _ := db.Plugins[name].(*Router)
	return r
}

// Name implements gorm.Plugin.
func (*Router) Name() string { return name }

// Initialize implements gorm.Plugin. The pool is chosen before all other callbacks and
// restored after them, so that a statement built on the result of a read does not use a
// replica.
func (r *Router) Initialize(db *gorm.DB) error {
	r.primary, r.dialect = db.ConnPool, db.Name()
	cb := db.Callback()
	return errors.Join(
		cb.Create().Before("*").Register(name, r.write),
		cb.Update().Before("*").Register(name, r.write),
		cb.Delete().Before("*").Register(name, r.write),
		cb.Raw().Before("*").Register(name, r.write),
		cb.Query().Before("*").Register(name, r.read),
		cb.Query().Replace("gorm:query", r.orPrimary(cb.Query().Get("gorm:query"))),
		cb.Query().After("*").Register(name+"_end", r.end),
		cb.Row().Before("*").Register(name, r.read),
		cb.Row().Replace("gorm:row", r.orPrimary(cb.Row().Get("gorm:row"))),
		cb.Row().After("*").Register(name+"_end", r.end),
	)
}

// Start checks every replica once, and then periodically until Close. A replica that does
// not respond is used as soon as a check succeeds. Start returns permanent errors only.
func (r *Router) Start(ctx context.Context) error {
	errs := make([]error, len(r.all))
	var checks sync.WaitGroup
	for i, replica := range r.all {
		checks.Go(func() {
			if err := replica.check(ctx); err != nil {
				errs[i] = fmt.Errorf("xdb: replica %d: open %s: %w", i+1, replica, err)
			}
		})
	}
	checks.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var watchCtx context.Context
	watchCtx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, replica := range r.all {
		r.watchers.Go(func() { replica.watch(watchCtx) })
	}
	return nil
}

// Close stops the checks and closes the pools. A second call does nothing.
func (r *Router) Close() error {
	r.stop()
	r.watchers.Wait()
	var errs []error
	for _, replica := range r.all {
		errs = append(errs, replica.close())
	}
	return errors.Join(errs...)
}

func (r *Router) write(tx *gorm.DB) {
	if r.routes(tx.Statement.ConnPool) {
		r.toPrimary(tx.Statement)
	}
}

// read sends a statement to the next replica that is up. A nested read, such as a
// Preload, uses the same server.
func (r *Router) read(tx *gorm.DB) {
	s := tx.Statement
	if !r.routes(s.ConnPool) {
		return
	}
	_, locks := s.Clauses["FOR"]
	text := s.SQL.String() // set by Raw
	if locks || dbconn.OnPrimary(s.Context) || text != "" && !onlyReads(text, r.dialect) {
		r.toPrimary(s)
		return
	}
	if s.ConnPool != r.primary {
		return
	}
	turn := r.turn.Add(1)
	for i := range uint32(len(r.all)) {
		if replica := r.all[(turn+i)%uint32(len(r.all))]; replica.state.Load() == stateUp {
			s.ConnPool = replica.db.Load().ConnPool
			return
		}
	}
}

// end restores the pool.
func (r *Router) end(tx *gorm.DB) {
	if r.routes(tx.Statement.ConnPool) {
		tx.Statement.ConnPool = r.primary
	}
}

// toPrimary also marks the context, for the statements of hooks and preloads.
func (r *Router) toPrimary(s *gorm.Statement) {
	s.ConnPool, s.Context = r.primary, dbconn.WithPrimary(s.Context)
}

// routes reports whether the router may change the pool of a statement.
func (r *Router) routes(pool gorm.ConnPool) bool {
	return pool == r.primary || r.replicaOf(pool) != nil
}

// replicaOf returns the replica with this pool, or nil.
func (r *Router) replicaOf(pool gorm.ConnPool) *Replica {
	for _, replica := range r.all {
		if db := replica.db.Load(); db != nil && db.ConnPool == pool {
			return replica
		}
	}
	return nil
}
