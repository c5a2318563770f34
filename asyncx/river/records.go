package river

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// stateOf returns the state of a job in a state of River.
func stateOf(river string) driver.State {
	switch river {
	case "running":
		return driver.Running
	case "completed":
		return driver.Done
	case "cancelled", "discarded":
		return driver.Dead
	default:
		return driver.Waiting
	}
}

// Get implements driver.Engine.
func (e *engine) Get(ctx context.Context, id string) (driver.Record, error) {
	db, err := e.handle(ctx)
	if err != nil {
		return driver.Record{}, err
	}
	key, err := parse(ctx, "get", id)
	if err != nil {
		return driver.Record{}, err
	}
	records, err := read(db.Raw(e.sql.get, key))
	switch {
	case err != nil:
		return driver.Record{}, fmt.Errorf("river: get: %w", err)
	case len(records) == 0:
		return driver.Record{}, fmt.Errorf("river: get: %w", driver.ErrNotFound)
	}
	return records[0], nil
}

// List implements driver.Engine.
func (e *engine) List(ctx context.Context, q driver.Query) ([]driver.Record, error) {
	db, err := e.handle(ctx)
	if err != nil {
		return nil, err
	}
	inStates, ok := states[q.State]
	if !ok {
		return nil, fmt.Errorf("river: list: invalid state %q", q.State)
	}
	query, args := e.sql.list+" AND state IN ("+inStates+")", []any{}
	if q.Kind != "" {
		query, args = query+" AND kind = ?", append(args, q.Kind)
	}
	if q.After != "" {
		after, err := uuid.Parse(q.After)
		if err != nil {
			return nil, fmt.Errorf("river: list: after: %w", driver.ErrNotFound)
		}
		query, args = query+" AND unique_key > decode(?, 'hex')", append(args, hexOf(after))
	}
	records, err := read(db.Raw(query+" ORDER BY unique_key LIMIT ?", append(args, q.Limit)...))
	if err != nil {
		return nil, fmt.Errorf("river: list: %w", err)
	}
	return records, nil
}

// Replay implements driver.Engine. The row keeps the errors of earlier attempts.
func (e *engine) Replay(ctx context.Context, id string) error {
	return e.change(ctx, "replay", id, func(db *gorm.DB, key string) (n int64, err error) {
		err = db.Raw(e.sql.replay, key).Row().Scan(new(any), &n)
		return n, err
	})
}

// Delete implements driver.Engine.
func (e *engine) Delete(ctx context.Context, id string) error {
	return e.change(ctx, "delete", id, func(db *gorm.DB, key string) (int64, error) {
		tx := db.Exec(e.sql.remove, key)
		return tx.RowsAffected, tx.Error
	})
}

// change modifies a job if its state allows it.
func (e *engine) change(
	ctx context.Context, operation, id string, do func(db *gorm.DB, key string) (int64, error),
) error {
	db, err := e.handle(ctx)
	if err != nil {
		return err
	}
	key, err := parse(ctx, operation, id)
	if err != nil {
		return err
	}
	n, err := do(db, key)
	if err != nil {
		return fmt.Errorf("river: %s: %w", operation, err)
	}
	if n > 0 {
		return nil
	}
	records, err := read(db.Raw(e.sql.get, key))
	switch {
	case err != nil:
		return fmt.Errorf("river: %s: %w", operation, err)
	case len(records) == 0:
		return fmt.Errorf("river: %s: %w", operation, driver.ErrNotFound)
	}
	return fmt.Errorf("river: %s: %w: state is %s", operation, driver.ErrState, records[0].State)
}

// parse returns the key of an ID. It returns ErrNotFound if id is not a UUID.
func parse(ctx context.Context, operation, id string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("river: %s: %w", operation, err)
	}
	key, err := uuid.Parse(id)
	if err != nil {
		return "", fmt.Errorf("river: %s: %w", operation, driver.ErrNotFound)
	}
	return hexOf(key), nil
}

func read(query *gorm.DB) ([]driver.Record, error) {
	rows, err := query.Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	var records []driver.Record
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, rows.Err()
}

// scan reads the columns of record.
func scan(rows *sql.Rows) (r driver.Record, err error) {
	var args, data []byte
	var state string
	err = rows.Scan(&r.ID, &r.Kind, &args, &r.Priority, &r.MaxAttempts, &data, &state, &r.Attempt,
		&r.CreatedAt, &r.RunAt, &r.Error)
	if err != nil {
		return r, err
	}
	r.State = stateOf(state)
	return r, decodeFields(&r.Job, args, data)
}

// decodeFields decodes the ID, the arguments and the metadata of a job.
func decodeFields(j *driver.Job, args, data []byte) error {
	id, err := uuid.Parse(j.ID)
	if err != nil {
		return fmt.Errorf("the unique key is not a UUID: %w", err)
	}
	var m metadata
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("metadata of job %s: %w", id, err)
	}
	j.ID, j.Args, j.Meta = id.String(), originalArgs(args), m.Meta
	return nil
}
