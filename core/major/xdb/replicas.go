package xdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const replicasName = "plinth:replicas"

// replicas is a gorm plugin that sends reads to copies of the database.
//
// It changes the pool of a statement only where that is the one of the database itself or of a replica. A transaction,
// and the single connection of gorm's Connection, are not among them and stay what they are.
type replicas struct {
	primary gorm.ConnPool
	dialect string
	all     []*replica
	turn    atomic.Uint32

	watchers sync.WaitGroup
	stop     context.CancelFunc // nil: start was not called
	closing  sync.Once
}

func newReplicas(targets []*target, o Options) *replicas {
	r := &replicas{}
	for _, t := range targets {
		r.all = append(r.all, &replica{target: t, options: o})
	}
	return r
}

// Name implements gorm.Plugin.
func (*replicas) Name() string { return replicasName }

// Initialize implements gorm.Plugin. The pool is chosen before every other callback, and put back after them, so that what
// is called on the result of a read does not go to a replica.
func (r *replicas) Initialize(db *gorm.DB) error {
	r.primary, r.dialect = db.ConnPool, db.Name()
	if db.PrepareStmt {
		for _, replica := range r.all {
			replica.prepare = func(pool gorm.ConnPool) gorm.ConnPool {
				return gorm.NewPreparedStmtDB(pool, db.PrepareStmtMaxSize, db.PrepareStmtTTL)
			}
		}
	}
	lines := db.Logger
	db.Logger = logger.Discard // gorm writes a line about each callback that is replaced
	defer func() { db.Logger = lines }()
	cb := db.Callback()
	return errors.Join(
		cb.Create().Before("*").Register(replicasName, r.write),
		cb.Update().Before("*").Register(replicasName, r.write),
		cb.Delete().Before("*").Register(replicasName, r.write),
		cb.Raw().Before("*").Register(replicasName, r.write),
		cb.Query().Before("*").Register(replicasName, r.read),
		cb.Query().Replace("gorm:query", r.orPrimary(cb.Query().Get("gorm:query"))),
		cb.Query().After("*").Register(replicasName+"_end", r.end),
		cb.Row().Before("*").Register(replicasName, r.read),
		cb.Row().Replace("gorm:row", r.orPrimary(cb.Row().Get("gorm:row"))),
		cb.Row().After("*").Register(replicasName+"_end", r.end),
	)
}

// start checks every replica once and then again and again until close. One that does not answer is used when it does;
// only what waiting cannot mend is an error.
func (r *replicas) start(ctx context.Context) error {
	errs := make([]error, len(r.all))
	var first sync.WaitGroup
	for i, replica := range r.all {
		first.Go(func() {
			if err := replica.check(ctx); err != nil {
				errs[i] = fmt.Errorf("xdb: replica %d: open %s: %w", i+1, replica.target.label(), err)
			}
		})
	}
	first.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var watched context.Context
	watched, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, replica := range r.all {
		r.watchers.Go(func() { replica.watch(watched) })
	}
	return nil
}

// close ends the checks and closes the pools. Whoever calls it again does nothing.
func (r *replicas) close() error {
	var errs []error
	r.closing.Do(func() {
		if r.stop != nil {
			r.stop()
		}
		r.watchers.Wait()
		for _, replica := range r.all {
			errs = append(errs, replica.close())
		}
	})
	return errors.Join(errs...)
}

// write sends a statement to the primary, and with it what its hooks read.
func (r *replicas) write(tx *gorm.DB) {
	if r.routes(tx.Statement.ConnPool) {
		r.toPrimary(tx.Statement)
	}
}

// read sends a statement to the replica whose turn it is. What is read within another read, such as a Preload, goes where
// that went.
func (r *replicas) read(tx *gorm.DB) {
	s := tx.Statement
	if !r.routes(s.ConnPool) {
		return
	}
	_, locks := s.Clauses["FOR"]
	text := s.SQL.String() // of Raw
	if locks || onPrimary(s.Context) || text != "" && !onlyReads(text, r.dialect) {
		r.toPrimary(s)
		return
	}
	if s.ConnPool != r.primary {
		return
	}
	turn := r.turn.Add(1)
	for i := range uint32(len(r.all)) { //nolint:gosec // nobody has that many
		if pool := r.all[(turn+i)%uint32(len(r.all))].pool(); pool != nil { //nolint:gosec // see above
			s.ConnPool = pool
			return
		}
	}
}

// end puts the pool back.
func (r *replicas) end(tx *gorm.DB) {
	if r.routes(tx.Statement.ConnPool) {
		tx.Statement.ConnPool = r.primary
	}
}

// orPrimary returns read with a second try on the primary, for what has failed at a replica before its first row: because
// that is lost, or because the statement writes after all.
func (r *replicas) orPrimary(read func(*gorm.DB)) func(*gorm.DB) {
	return func(tx *gorm.DB) {
		s := tx.Statement
		at := r.replicaOf(s.ConnPool)
		if at == nil || tx.Error != nil {
			read(tx)
			return
		}
		rows, isRows := s.Settings.Load("rows") // gorm deletes it
		tx.RowsAffected = 0
		read(tx)
		err := readError(tx)
		if err == nil || s.Context.Err() != nil {
			return
		}
		kind := at.target.kindOf(err)
		gone := lost(err, kind)
		if gone && kind != driver.Authentication { // which may be the lack of a grant on one table
			_ = at.down(s.Context, err)
		}
		if !gone && kind != driver.ReadOnly && !errors.Is(err, errNotPrepared) || tx.RowsAffected > 0 {
			return
		}
		if isRows {
			s.Settings.Store("rows", rows)
		}
		tx.Error = nil
		r.toPrimary(s)
		read(tx)
	}
}

// errNotPrepared stands for the error of a prepared statement, which gorm drops where it returns a single row.
var errNotPrepared = errors.New("xdb: the statement could not be prepared")

// readError returns what a read has failed with; that of a single row is in the row.
func readError(tx *gorm.DB) error {
	row, ok := tx.Statement.Dest.(*sql.Row)
	switch {
	case !ok || tx.Error != nil:
		return tx.Error
	case *row == sql.Row{}:
		return errNotPrepared
	default:
		return row.Err()
	}
}

// toPrimary marks the context too, for the statements that hooks and preloads make of this one.
func (r *replicas) toPrimary(s *gorm.Statement) {
	s.ConnPool, s.Context = r.primary, WithPrimary(s.Context)
}

// routes reports whether a statement with this pool may be sent elsewhere.
func (r *replicas) routes(pool gorm.ConnPool) bool {
	return pool == r.primary || r.replicaOf(pool) != nil
}

// replicaOf returns the replica with this pool, or nil.
func (r *replicas) replicaOf(pool gorm.ConnPool) *replica {
	for _, replica := range r.all {
		if replica.has(pool) {
			return replica
		}
	}
	return nil
}
