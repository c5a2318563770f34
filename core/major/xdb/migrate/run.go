package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

// recordTimeout limits how long recording a failure may last after ctx has ended.
const recordTimeout = 10 * time.Second

// prefixMark is the placeholder of the table prefix.
const prefixMark = "${prefix}"

// run applies one file.
type run struct {
	sqlfile.File

	info     *dbconn.Info
	db       *gorm.DB
	files    []sqlfile.File // the whole set
	position []slog.Attr    // of the file among the pending ones

	record  record
	started bool // the run has a record
	crashed bool // a process exited while it ran the file
	inTx    bool // the lock itself is a transaction
}

// do applies the file. It records a failure under a second lock, because the first one
// may be the failed transaction or belong to a lost connection.
func (r *run) do(ctx context.Context) error {
	start := time.Now()
	var failure error // of the file; err also contains errors of the lock
	err := r.info.Lock(ctx, r.db, func(tx *gorm.DB) error {
		failure = r.applyLocked(ctx, tx)
		return failure
	})
	failure = cmp.Or(failure, r.wrap("", err))
	switch {
	case failure != nil && r.started:
		r.recordFailure(ctx, failure)
	case failure == nil && r.started:
		r.info.Log.Info(ctx, "migration applied", append(r.position,
			slog.Int("statements", len(r.Statements)), slog.Duration("took", time.Since(start)))...)
	}
	return failure
}

func (r *run) wrap(operation string, err error) error {
	return r.info.Fail("migration "+r.Name+operation, err)
}

// applyLocked applies the file under the lock, unless another process has applied it.
func (r *run) applyLocked(ctx context.Context, tx *gorm.DB) error {
	known, err := readOrCreateRecords(tx)
	if err != nil {
		return r.info.Fail("migrations", err)
	}
	if err := errors.Join(newPlan(r.files, known).problems...); err != nil {
		return err
	}
	r.record = known[r.Migration]
	if r.record.State == Applied {
		r.info.Log.Info(ctx, "migration was applied by another process", r.position...)
		return nil
	}
	_, r.inTx = tx.Statement.ConnPool.(gorm.TxCommitter)
	if r.NoTransaction && r.inTx {
		return fmt.Errorf("xdb: migration %s: the lock of %s is a transaction, "+
			"so -- plinth:no-transaction is not supported: "+
			"remove the line, or add a file for %s without it", r.Name, r.info.Name, r.info.Name)
	}
	r.start(ctx)
	if m, ok := r.info.Driver.(driver.Migrator); ok && m.TransactionalDDL() && !r.NoTransaction {
		return r.applyInTransaction(ctx, tx)
	}
	if err := r.save(tx); err != nil {
		return err
	}
	return r.runRemaining(tx, true)
}

func (r *run) start(ctx context.Context) {
	r.started, r.crashed = true, r.record.State == Running
	r.record.Name, r.record.SHA256, r.record.Statements = r.Migration, r.SHA256, len(r.Statements)
	r.record.State, r.record.ErrorText = Running, ""
	r.record.StartedAt, r.record.FinishedAt = r.db.NowFunc(), nil
	position := append(r.position, slog.Int("statements", len(r.Statements)))
	if r.record.Done > 0 {
		position = append(position, slog.Int("done", r.record.Done))
	}
	r.info.Log.Info(ctx, "migration started", position...)
}

// applyInTransaction runs the remaining statements and writes the record in one
// transaction, which is the lock if that is a transaction.
//
// ctx cancels the statements, not the transaction: database/sql would roll it back from
// another goroutine and close the connection that holds the lock.
func (r *run) applyInTransaction(ctx context.Context, tx *gorm.DB) error {
	before := r.record
	var failure error
	all := func(tx *gorm.DB) error {
		failure = r.runRemaining(tx.WithContext(ctx), false)
		return failure
	}
	if r.inTx {
		return all(tx)
	}
	uncanceled := tx.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(ctx)})
	if err := uncanceled.Transaction(all); err != nil {
		r.record = before
		return cmp.Or(failure, r.wrap(": transaction", err))
	}
	return nil
}

// runRemaining runs the remaining statements and records them, either after each
// statement or once at the end.
func (r *run) runRemaining(tx *gorm.DB, each bool) error {
	first := r.record.Done
	for i := first; i < len(r.Statements); i++ {
		err := r.runStatement(tx, i)
		if err != nil && r.crashed && i == first {
			err = fmt.Errorf("%w; a process that exited during this statement "+
				"may have applied it already: if so, undo it in the database and retry", err)
		}
		if err != nil {
			return err
		}
		r.record.Done, r.record.DoneSHA256 = i+1, r.Statements[i].Digest
		if each {
			if err := r.save(tx); err != nil {
				return err
			}
		}
	}
	now := r.db.NowFunc()
	r.record.State, r.record.FinishedAt = Applied, &now
	return r.save(tx)
}

func (r *run) runStatement(tx *gorm.DB, i int) error {
	naming, _ := namingOf(r.db)
	prefix := naming.TablePrefix
	err := execute(tx, strings.ReplaceAll(r.Statements[i].SQL, prefixMark, prefix))
	if err == nil {
		return nil
	}
	err = withoutValues(err, r.Statements, prefix, r.db.Name())
	return r.wrap(fmt.Sprintf(":%d", r.Line(i)), err)
}

// execute runs a statement without preparing it: some databases cannot prepare DDL.
func execute(tx *gorm.DB, sql string) error {
	// Scopes returns a new statement, whose pool may be replaced.
	tx = tx.Session(&gorm.Session{NewDB: true}).Scopes()
	switch pool := tx.Statement.ConnPool.(type) {
	case *gorm.PreparedStmtDB:
		tx.Statement.ConnPool = pool.ConnPool
	case *gorm.PreparedStmtTX:
		tx.Statement.ConnPool = pool.Tx
	}
	return tx.Exec(sql).Error
}

func (r *run) save(tx *gorm.DB) error {
	return r.wrap(": record", saveRecord(tx, &r.record))
}

// recordFailure records the failure of a migration even if ctx has ended, unless another
// process has applied more of it in the meantime.
func (r *run) recordFailure(ctx context.Context, failure error) {
	recordCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	err := r.info.Lock(recordCtx, r.db, func(tx *gorm.DB) error {
		known, err := readOrCreateRecords(tx)
		if err != nil {
			return err
		}
		row := known[r.Migration]
		if r.inTx { // rolled back
			r.record.Done, r.record.DoneSHA256 = row.Done, row.DoneSHA256
		}
		r.record.stored = row.stored
		if row.State == Applied || row.Done > r.record.Done {
			return nil
		}
		finished := r.db.NowFunc()
		r.record.State, r.record.FinishedAt = Failed, &finished
		r.record.ErrorText = errorText(failure)
		return r.save(tx)
	})
	if err != nil {
		r.info.Log.Warn(recordCtx, "the failure of a migration could not be recorded",
			slog.String("file", r.Name), slog.String("error", r.info.Redact(err).Error()))
	}
}
