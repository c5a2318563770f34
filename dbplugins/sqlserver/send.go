package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
)

// run sends the statement.
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

// query sends the statement, and puts what the server has made into the entities.
func (in *insert) query(ctx context.Context, query string) (err error) {
	rows, err := in.db.Statement.ConnPool.QueryContext(ctx, query, in.db.Statement.Vars...)
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); err == nil { // else it may be the same
			err = closed
		}
	}()
	in.db.RowsAffected = 0
	for rows.Next() {
		if err := in.take(rows); err != nil {
			return err
		}
		in.db.RowsAffected++
	}
	return rows.Err()
}

// take reads one row: the values, and if there are several rows which one they belong
// to.
func (in *insert) take(rows *sql.Rows) error {
	row := 0
	values, places := make([]any, len(in.returned)), make([]any, 0, len(in.returned)+1)
	for i := range values {
		places = append(places, &values[i])
	}
	if in.numbered() {
		places = append(places, &row)
	}
	if err := rows.Scan(places...); err != nil {
		return err
	}
	return in.assign(in.first+row, values)
}

// assign puts the values that the server has made for a row into what it was created
// from.
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
