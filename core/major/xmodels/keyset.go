package xmodels

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// KeysetRequest is what a client says about the next page of a list that it walks through
// from the start.
type KeysetRequest struct {
	// After is the Next of the page before; empty is the first page.
	After string `json:"after" form:"after"`
	// Size and Sort are those of PageRequest.
	Size int    `json:"size" form:"size"`
	Sort string `json:"sort" form:"sort"`
}

// KeysetPage is one page of a list that is walked through.
type KeysetPage[T any] struct {
	Size  int    `json:"size"`
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // empty on the last page
}

// Keyset returns the page of tx's rows that follows r.After.
//
// It finds its place by the key of the last row instead of by counting rows, so that the
// thousandth page costs what the first one does, and rows that come or go in the meantime
// shift nothing. The order is SortBy and then the primary key, ascending or all
// descending; tx has no order of its own. An index of the same columns is what makes it
// fast. The columns hold no NULL.
//
// A cursor is opaque, not secret: it holds the last row's values of the sort columns. One
// that was not made for this order is a ParameterError.
func Keyset[T any](tx *gorm.DB, r KeysetRequest, opts ...PageOption) (*KeysetPage[T], error) {
	page := PageRequest{Size: r.Size, Sort: r.Sort}.Normalize()
	if tx.Statement.Model == nil {
		tx = tx.Model(new(T))
	}
	fields, err := newPageConfig(opts).fields(tx)
	if err != nil {
		return nil, err
	}
	if r.After != "" {
		values, err := readCursor(r.After, page.Sort, fields)
		if err != nil {
			return nil, xerror.Wrap(xerror.ParameterError,
				"the cursor does not belong to this list", err)
		}
		tx = tx.Where(after(fields, values, page.Descending()))
	}
	items := []T{}
	if err := orderBy(tx, fields, page).Limit(page.Size + 1).Find(&items).Error; err != nil {
		return nil, fmt.Errorf("xmodels: page: %w", err)
	}
	result := &KeysetPage[T]{Size: page.Size, Items: items}
	if len(items) > page.Size {
		result.Items = items[:page.Size:page.Size]
		last := reflect.Indirect(reflect.ValueOf(&items[page.Size-1]).Elem())
		if result.Next, err = writeCursor(tx, page.Sort, fields, last); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// after is the condition for the rows behind values in the order of fields: for (a, b) it
// is
//
//	a >= A AND (a > A OR (a = A AND b > B))
//
// which says the same as (a, b) > (A, B), in a form that every database knows and in
// which the first part lets an index find the start.
func after(fields []*schema.Field, values []any, descending bool) clause.Expression {
	than := ">"
	if descending {
		than = "<"
	}
	compare := func(i int, operator string) clause.Expression {
		return clause.Expr{SQL: "? " + operator + " ?", Vars: []any{columnOf(fields[i]), values[i]}}
	}
	last := len(fields) - 1
	cond := compare(last, than)
	for i := last - 1; i >= 0; i-- {
		cond = clause.And(compare(i, than+"="),
			clause.Or(compare(i, than), clause.And(compare(i, "="), cond)))
	}
	return cond
}

// cursor is what a cursor holds: the order that it was made for, and the values of the
// last row.
type cursor struct {
	Sort    string            `json:"s"`
	Columns []string          `json:"c"`
	Values  []json.RawMessage `json:"v"`
}

func writeCursor(
	tx *gorm.DB, sort string, fields []*schema.Field, row reflect.Value,
) (string, error) {
	c := cursor{Sort: sort}
	for _, f := range fields {
		value := f.ReflectValueOf(tx.Statement.Context, row).Interface()
		text, err := json.Marshal(value)
		if err != nil {
			return "", fmt.Errorf("xmodels: cursor: column %s: %w", f.DBName, err)
		}
		if bytes.Equal(text, []byte("null")) {
			return "", fmt.Errorf(
				"xmodels: cursor: column %s is NULL: pages by key need columns without it",
				f.DBName)
		}
		c.Columns, c.Values = append(c.Columns, f.DBName), append(c.Values, text)
	}
	text, _ := json.Marshal(c) // strings, and the JSON that was made above
	return base64.RawURLEncoding.EncodeToString(text), nil
}

func readCursor(text, sort string, fields []*schema.Field) ([]any, error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	var c cursor
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	if c.Sort != sort || len(c.Columns) != len(fields) || len(c.Values) != len(fields) {
		return nil, errOtherOrder
	}
	values := make([]any, len(fields))
	for i, f := range fields {
		if c.Columns[i] != f.DBName || bytes.Equal(c.Values[i], []byte("null")) {
			return nil, errOtherOrder
		}
		value := reflect.New(f.FieldType)
		if err := json.Unmarshal(c.Values[i], value.Interface()); err != nil {
			return nil, err
		}
		values[i] = value.Elem().Interface()
	}
	return values, nil
}

var errOtherOrder = errors.New("the cursor was made for another order")
