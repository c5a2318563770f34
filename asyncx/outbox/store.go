package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx/internal/jobdb"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

// Limits of one INSERT. SQL Server accepts 2100 parameters, MySQL limits the length of a
// statement, and the SQLite driver takes quadratic time in the number of parameters.
const (
	insertRows  = 25
	insertBytes = 2 << 20
)

// handle returns the transaction of ctx, or else the database.
func (e *engine) handle(ctx context.Context) (db *gorm.DB, inTransaction bool, err error) {
	if err := e.open(); err != nil {
		return nil, false, err
	}
	if db, inTransaction, err = jobdb.Handle(ctx, e.db); err != nil {
		return nil, false, fmt.Errorf("outbox: %w", err)
	}
	return db, inTransaction, nil
}

// Insert implements driver.Engine.
func (e *engine) Insert(ctx context.Context, jobs []driver.Job) error {
	ctx = xctx.Unpooled(ctx)
	db, inTransaction, err := e.handle(ctx)
	if err != nil || len(jobs) == 0 {
		return err
	}
	batches, err := batchesOf(jobs)
	if err != nil {
		return err
	}
	switch {
	case inTransaction:
		err = insert(db, batches)
	case len(batches) == 1:
		err = retryConflicts(ctx, func() error { return insert(db, batches) })
	default:
		err = retryConflicts(ctx, func() error {
			return db.Transaction(func(tx *gorm.DB) error { return insert(tx, batches) })
		})
	}
	if err != nil {
		return fmt.Errorf("outbox: insert: %w", err)
	}
	// If OnCommit returns false, the workers find the jobs with their next poll.
	transaction.OnCommit(ctx, func(context.Context) { e.workers.Wake() })
	return nil
}

func insert(db *gorm.DB, batches [][]row) error {
	for _, batch := range batches {
		if err := db.Session(&gorm.Session{}).Create(&batch).Error; err != nil {
			return err
		}
	}
	return nil
}

// batchesOf returns the rows of the jobs, grouped by statement.
func batchesOf(jobs []driver.Job) ([][]row, error) {
	var batches [][]row
	var batch []row
	size := 0
	for _, j := range jobs {
		r, err := rowOf(j)
		if err != nil {
			return nil, err
		}
		if len(batch) == insertRows || size+len(r.Args) > insertBytes && len(batch) > 0 {
			batches, batch, size = append(batches, batch), nil, 0
		}
		batch, size = append(batch, r), size+len(r.Args)
	}
	return append(batches, batch), nil
}

func rowOf(j driver.Job) (row, error) {
	meta, err := json.Marshal(j.Meta)
	if err != nil {
		return row{}, fmt.Errorf("outbox: meta of a job: %w", err)
	}
	due := fromNow(j.Delay.Microseconds())
	return row{
		ID: j.ID, Kind: j.Kind, State: string(driver.Waiting), Priority: int64(j.Priority),
		DueUS: due, RunAtUS: due,
		MaxAttempts: int64(j.MaxAttempts), Meta: string(meta), Args: string(j.Args),
	}, nil
}

// Get implements driver.Engine.
func (e *engine) Get(ctx context.Context, id string) (driver.Record, error) {
	ctx = xctx.Unpooled(ctx)
	db, inTransaction, err := e.handle(ctx)
	if err != nil {
		return driver.Record{}, err
	}
	var records []driver.Record
	err = retryOutside(ctx, inTransaction, func() (err error) {
		records, err = scan(db.Raw(e.sql.get, id))
		return err
	})
	switch {
	case err != nil:
		return driver.Record{}, fmt.Errorf("outbox: get: %w", err)
	case len(records) == 0:
		return driver.Record{}, fmt.Errorf("outbox: %w", driver.ErrNotFound)
	default:
		return records[0], nil
	}
}

// List implements driver.Engine.
func (e *engine) List(ctx context.Context, q driver.Query) ([]driver.Record, error) {
	ctx = xctx.Unpooled(ctx)
	db, inTransaction, err := e.handle(ctx)
	if err != nil {
		return nil, err
	}
	if q.After == "" {
		q.After = "-" // Oracle treats "" as NULL; every ID is greater than "-"
	}
	var records []driver.Record
	err = retryOutside(ctx, inTransaction, func() (err error) {
		page := db.Model(&row{}).Select(e.sql.columns).Where(e.sql.listed, string(q.State), q.After)
		if q.Kind != "" {
			page = page.Where(e.sql.ofKind, q.Kind)
		}
		records, err = scan(page.Order(e.sql.id).Limit(max(q.Limit, 1)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: list: %w", err)
	}
	return records, nil
}

// Replay implements driver.Engine.
func (e *engine) Replay(ctx context.Context, id string) error {
	if err := e.change(ctx, "replay", e.sql.replay, id); err != nil {
		return err
	}
	transaction.OnCommit(xctx.Unpooled(ctx), func(context.Context) { e.workers.Wake() })
	return nil
}

// Delete implements driver.Engine.
func (e *engine) Delete(ctx context.Context, id string) error {
	return e.change(ctx, "delete", e.sql.remove, id)
}

// change executes a statement that changes a job only in certain states.
func (e *engine) change(ctx context.Context, operation, statement, id string) error {
	ctx = xctx.Unpooled(ctx)
	db, inTransaction, err := e.handle(ctx)
	if err != nil {
		return err
	}
	var changed int64
	err = retryOutside(ctx, inTransaction, func() error {
		tx := db.Exec(statement, id)
		changed = tx.RowsAffected
		return tx.Error
	})
	if err != nil {
		return fmt.Errorf("outbox: %s: %w", operation, err)
	}
	if changed > 0 {
		return nil
	}
	r, err := e.Get(ctx, id)
	if err != nil {
		return err
	}
	return fmt.Errorf("outbox: %s: %w: state is %s", operation, driver.ErrState, r.State)
}

// retryOutside retries do outside a transaction. In a transaction, which the database may
// have aborted, the caller must retry the whole transaction.
func retryOutside(ctx context.Context, inTransaction bool, do func() error) error {
	if inTransaction {
		return do()
	}
	return retryConflicts(ctx, do)
}

// scan reads the records of a query.
func scan(statement *gorm.DB) (records []driver.Record, err error) {
	err = query(statement, func(rows *sql.Rows) error {
		var r driver.Record
		var runAt, created int64
		var failure sql.NullString
		var meta, args string
		if err := rows.Scan(&r.ID, &r.Kind, &r.State, &r.Priority, &runAt, &created, &r.Attempt,
			&r.MaxAttempts, &failure, &meta, &args); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(meta), &r.Meta); err != nil {
			return err
		}
		r.RunAt, r.CreatedAt = time.UnixMicro(runAt).UTC(), time.UnixMicro(created).UTC()
		r.Error, r.Args = failure.String, []byte(args)
		records = append(records, r)
		return nil
	})
	return records, err
}

var errRow = errors.New("invalid row: it was not written by this version")

// query calls read for each row of the statement. Its error contains no values of the
// row.
func query(statement *gorm.DB, read func(rows *sql.Rows) error) error {
	rows, err := statement.Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		if err := read(rows); err != nil && rows.Err() == nil {
			return errRow
		}
	}
	err = rows.Err()
	if t, ok := statement.Dialector.(gorm.ErrorTranslator); ok && err != nil {
		err = t.Translate(err)
	}
	return err
}
