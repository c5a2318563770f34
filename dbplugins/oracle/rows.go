package oracle

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"reflect"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// unscaled is the scale that the library reports for a computed number, such as count(*).
const unscaled = 255

// libraryRows contains the methods of the library's rows.
type libraryRows interface {
	sqldriver.RowsColumnTypeDatabaseTypeName
	sqldriver.RowsColumnTypePrecisionScale
	sqldriver.RowsColumnTypeScanType
}

// rows contains the rows of a query. It watches the context until it is closed; the
// library does so only until the first rows have arrived.
type rows struct {
	libraryRows

	conn    *conn
	ctx     context.Context // context of the query, as in database/sql
	query   string
	stop    func()
	names   []string
	numbers []numberKind
}

var errBroken = driver.Translate(driver.Connection, io.ErrUnexpectedEOF, "the result is incomplete")

// numberKind is the Go type of a NUMBER, which the library returns as a string.
type numberKind uint8

const (
	notNumber numberKind = iota
	decimal              // string, which preserves all digits
	integer              // int64
	either               // int64 for a whole number, otherwise string
)

var errRows = errors.New("oracle: unexpected rows type")

// rows wraps the rows of a query, or returns err if it is not nil.
func (c *conn) rows(
	ctx context.Context, query string, inner sqldriver.Rows, err error,
) (sqldriver.Rows, error) {
	if err != nil {
		return nil, err
	}
	library, ok := inner.(libraryRows)
	if !ok {
		return nil, errRows
	}
	r := &rows{
		libraryRows: library, conn: c, ctx: ctx, query: query,
		stop: driver.Watchdog(ctx, breakWait, c.wire.close),
	}
	r.names = inner.Columns()
	r.numbers = make([]numberKind, len(r.names))
	for i, name := range r.names {
		r.names[i] = gormName(name)
		r.numbers[i] = r.numberKind(i)
	}
	return r, nil
}

func (r *rows) numberKind(i int) numberKind {
	if r.ColumnTypeDatabaseTypeName(i) != "NUMBER" {
		return notNumber
	}
	switch _, scale, _ := r.ColumnTypePrecisionScale(i); scale {
	case 0:
		return integer
	case unscaled:
		return either
	default:
		return decimal
	}
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string { return r.names }

// Next implements driver.Rows.
func (r *rows) Next(dest []sqldriver.Value) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.conn.unusable.Store(true)
			err = driver.Translate(driver.Connection, errPanic, errPanic.Error())
		}
	}()
	if err := r.libraryRows.Next(dest); err != nil {
		return r.failed(err)
	}
	for i, v := range dest {
		switch v := v.(type) {
		case time.Time:
			dest[i] = v.UTC()
		case string:
			if r.numbers[i] == integer || r.numbers[i] == either {
				dest[i] = whole(v)
			}
		}
	}
	return nil
}

// whole returns a number as an int64 if possible.
func whole(text string) sqldriver.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}

func (r *rows) failed(err error) error {
	if errors.Is(err, io.EOF) {
		if !r.conn.wire.broken.Load() {
			return io.EOF
		}
		err = errBroken // the library returns io.EOF for a broken network, too
	}
	return r.conn.explain(r.ctx, err)
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	r.stop()
	if r.ctx.Err() != nil {
		r.conn.unusable.Store(true)
	}
	if r.conn.wire.broken.Load() {
		return nil // the cursor was closed with its session
	}
	return r.conn.within(func() error {
		if err := r.libraryRows.Close(); err != nil {
			return err
		}
		return r.conn.commitOpen(r.ctx, r.query)
	})
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType. The library would scan a
// 64-bit ID into a float64 and returns nil for some columns, which gorm does not support.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if r.numbers[i] != notNumber {
		return reflect.TypeFor[any]()
	}
	if scan := r.libraryRows.ColumnTypeScanType(i); scan != nil {
		return scan
	}
	return reflect.TypeFor[any]()
}
