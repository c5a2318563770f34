package xdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// recordTimeout bounds the record of a failure once ctx has ended.
const recordTimeout = 10 * time.Second

type logLines = *xlog.LogNamedLogger

// migrateFiles applies what is pending, each file under a lock of its own, so that one that waits sees what has been
// done meanwhile.
func (o *origin) migrateFiles(ctx context.Context, db *gorm.DB, set []migration) error {
	known, err := o.readHistory(ctx, db)
	if err != nil {
		return err
	}
	p := newPlan(set, known)
	if err := errors.Join(p.problems...); err != nil {
		return err
	}
	p.report(ctx, o.log)
	for i, m := range p.pending {
		r := &run{
			origin: o, db: db, set: set, migration: m,
			position: []slog.Attr{slog.String("file", m.file.Name), slog.Int("number", i+1), slog.Int("of", len(p.pending))},
		}
		if err := r.do(ctx); err != nil {
			return err
		}
	}
	if len(p.pending) == 0 && len(set) > 0 {
		o.log.Info(ctx, "schema is up to date", slog.Int("migrations", len(set)))
	}
	return nil
}

// run is one migration that is carried out.
type run struct {
	*origin
	migration

	db       *gorm.DB
	set      []migration
	position []slog.Attr

	record record
	began  bool // there is something to record
	died   bool // a process died at it before
	inTx   bool // the lock itself is a transaction
}

// do carries it out. A failure is recorded under the lock where that is possible, so that nobody comes between, and
// under another one where the connection has gone or the transaction could not be ended.
func (r *run) do(ctx context.Context) error {
	start := time.Now()
	var failure error // of the file; that of the lock is err
	recorded := false
	err := r.target.migrate(ctx, r.db, r.log, func(tx *gorm.DB) error {
		failure = r.locked(ctx, tx)
		if failure != nil && r.began && ctx.Err() == nil && !errors.Is(failure, errNotUndone) {
			recorded = r.fail(tx, failure) == nil
		}
		if recorded {
			return nil // which keeps the record
		}
		return failure
	})
	if failure == nil {
		failure = r.target.schemaError("migration "+r.file.Name, err)
	}
	if failure != nil {
		if r.began && (!recorded || err != nil) {
			r.failLate(ctx, failure)
		}
		return failure
	}
	if r.began {
		r.log.Info(ctx, "migration applied", append(r.position,
			slog.Int("statements", len(r.script.Statements)), slog.Duration("took", time.Since(start)))...)
	}
	return nil
}

// locked does what is left to do once there is the lock.
func (r *run) locked(ctx context.Context, tx *gorm.DB) error {
	known, err := history{tx}.readOrCreate()
	if err != nil {
		return r.target.schemaError("migrations", err)
	}
	if err := errors.Join(newPlan(r.set, known).problems...); err != nil {
		return err
	}
	r.record = known[r.name]
	if r.record.is(MigrationApplied) {
		r.log.Info(ctx, "migration was applied by another process", r.position...)
		return nil
	}
	_, r.inTx = tx.Statement.ConnPool.(gorm.TxCommitter)
	if r.script.NoTransaction && r.inTx {
		return fmt.Errorf("xdb: migration %s: the lock of %s is a transaction, so -- plinth:no-transaction cannot be: "+
			"remove the line, or add a file for %s without it", r.file.Name, r.target.name, r.target.name)
	}
	r.begin(ctx)
	if r.transactional() {
		return r.atOnce(ctx, tx)
	}
	return r.stepwise(tx)
}

// transactional reports whether the file can be undone as a whole.
func (r *run) transactional() bool {
	d, ok := r.target.driver.(driver.Transactional)
	return ok && d.TransactionalDDL() && !r.script.NoTransaction
}

// begin fills in the record.
func (r *run) begin(ctx context.Context) {
	r.began, r.died = true, r.record.is(MigrationRunning)
	r.record.Name, r.record.SHA256, r.record.Statements = r.name, r.file.SHA256, len(r.script.Statements)
	r.record.State, r.record.ErrorText = string(MigrationRunning), ""
	r.record.StartedAt, r.record.FinishedAt = r.db.NowFunc(), nil
	position := append(r.position, slog.Int("statements", len(r.script.Statements)))
	if r.record.Done > 0 {
		position = append(position, slog.Int("done", r.record.Done))
	}
	r.log.Info(ctx, "migration begins", position...)
}

// atOnce runs the rest of the file and writes its row as one unit.
func (r *run) atOnce(ctx context.Context, tx *gorm.DB) error {
	before := r.record
	err := r.unit(ctx, tx, func(tx *gorm.DB) error {
		for i := before.Done; i < len(r.script.Statements); i++ {
			if err := r.statement(tx, i); err != nil {
				return err
			}
		}
		return r.applied(tx)
	})
	if err != nil {
		r.record = before
	}
	return err
}

// stepwise runs the rest of the file and notes each statement that is done.
func (r *run) stepwise(tx *gorm.DB) error {
	if err := r.save(tx); err != nil {
		return err
	}
	first := r.record.Done
	for i := first; i < len(r.script.Statements); i++ {
		err := r.statement(tx, i)
		if err != nil && r.died && i == first {
			return fmt.Errorf("%w; a process that ended in the middle of this statement may have applied it already: "+
				"if so, undo that in the database and start again", err)
		}
		if err != nil {
			return err
		}
		r.done(i + 1)
		if err := r.save(tx); err != nil {
			return err
		}
	}
	return r.applied(tx)
}

// applied writes the row of a migration that is done.
func (r *run) applied(tx *gorm.DB) error {
	now := r.db.NowFunc()
	r.record.State, r.record.FinishedAt = string(MigrationApplied), &now
	r.done(len(r.script.Statements))
	return r.save(tx)
}

// done notes that the first n statements are kept.
func (r *run) done(n int) {
	if r.record.Done = n; n > 0 {
		r.record.DoneSHA256 = r.digests[n-1]
	}
}

func (r *run) save(tx *gorm.DB) error {
	return r.target.schemaError("migration "+r.file.Name+": record", history{tx}.save(&r.record))
}

// fail writes the row of a migration that has failed.
func (r *run) fail(tx *gorm.DB, failure error) error {
	now := r.db.NowFunc()
	r.record.State, r.record.FinishedAt, r.record.ErrorText = string(MigrationFailed), &now, errorText(failure)
	return r.save(tx)
}

// failLate writes the row under a lock of its own, whether or not ctx has ended, unless another process has got further
// with the migration meanwhile.
func (r *run) failLate(ctx context.Context, failure error) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	err := r.target.migrate(late, r.db, r.log, func(tx *gorm.DB) error {
		known, err := history{tx}.readOrCreate()
		if err != nil {
			return err
		}
		now := known[r.name]
		if r.inTx { // which has been undone
			r.record.Done, r.record.DoneSHA256 = now.Done, now.DoneSHA256
		}
		if r.record.stored = now.stored; now.is(MigrationApplied) || now.Done > r.record.Done {
			return nil
		}
		return r.fail(tx, failure)
	})
	if err != nil {
		r.log.Warn(late, "the failure of a migration could not be recorded", slog.String("file", r.file.Name),
			slog.String("error", r.target.secrets.text(err.Error())))
	}
}
