package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
)

// run executes the statement.
func (in *insert) run() {
	db, stmt := in.db, in.db.Statement
	if db.DryRun || db.Error != nil {
		return
	}
	query := stmt.SQL.String()
	if len(in.returned) > 0 {
		_ = db.AddError(in.query(stmt.Context, query))
		return
	}
	result, err := stmt.ConnPool.ExecContext(stmt.Context, query, stmt.Vars...)
	if db.AddError(err) != nil {
		return
	}
	db.RowsAffected, err = result.RowsAffected()
	_ = db.AddError(err)
	if stmt.Result != nil {
		stmt.Result.Result = result
	}
}

// query executes the statement and stores the values that the server set in the entities.
func (in *insert) query(ctx context.Context, query string) (err error) {
	rows, err := in.db.Statement.ConnPool.QueryContext(ctx, query, in.db.Statement.Vars...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil { // otherwise it may be the same error
			err = closeErr
		}
	}()
	in.db.RowsAffected = 0
	for rows.Next() {
		if err := in.scan(rows); err != nil {
			return err
		}
		in.db.RowsAffected++
	}
	return rows.Err()
}

// scan reads one row: the values, and its row number if it is numbered.
func (in *insert) scan(rows *sql.Rows) error {
	row := 0
	values, targets := make([]any, len(in.returned)), make([]any, 0, len(in.returned)+1)
	for i := range values {
		targets = append(targets, &values[i])
	}
	if in.numbered() {
		targets = append(targets, &row)
	}
	if err := rows.Scan(targets...); err != nil {
		return err
	}
	return in.assign(in.first+row, values)
}

// assign stores the values that the server set in the entity of a row.
func (in *insert) assign(row int, values []any) error {
	stmt := in.db.Statement
	entity := stmt.ReflectValue
	if kind := entity.Kind(); kind == reflect.Slice || kind == reflect.Array {
		entity = entity.Index(row)
	}
	var errs error
	for i, field := range in.returned {
		errs = errors.Join(errs, field.Set(stmt.Context, entity, values[i]))
	}
	return errs
}
