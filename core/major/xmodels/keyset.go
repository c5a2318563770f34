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

// KeysetRequest is a client's request for the next page of a list.
type KeysetRequest struct {
	// After is the Next of the previous page. It is empty for the first page.
	After string `json:"after" form:"after"`
	// Size and Sort have the same meaning as in PageRequest.
	Size int    `json:"size" form:"size"`
	Sort string `json:"sort" form:"sort"`
}

// KeysetPage is one page of keyset pagination.
type KeysetPage[T any] struct {
	Size  int    `json:"size"`
	Items []T    `json:"items" binding:"required"`
	Next  string `json:"next,omitempty"` // empty on the last page
}

// Keyset returns the page of tx's rows that follows r.After.
//
// It finds the first row by the key of the previous page instead of an offset. All pages
// therefore have the same cost, and concurrent inserts and deletes do not shift rows. The
// order is SortBy and then the primary key, all ascending or all descending. tx must not
// have an Order of its own, and the columns must not contain NULL. An index on the same
// columns makes the query fast.
//
// A cursor is opaque but not secret: it contains the values of the last row in the sort
// columns. A cursor for another order is a ParameterError.
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

// after returns the condition for the rows after values in the order of fields. For the
// fields (a, b) and the values (A, B) it is
//
//	a >= A AND (a > A OR (a = A AND b > B))
//
// This is equivalent to (a, b) > (A, B), but all databases support it, and an index can
// use its first part to find the start.
func after(fields []*schema.Field, values []any, descending bool) clause.Expression {
	follows := ">"
	if descending {
		follows = "<"
	}
	compare := func(i int, operator string) clause.Expression {
		return clause.Expr{SQL: "? " + operator + " ?", Vars: []any{columnOf(fields[i]), values[i]}}
	}
	last := len(fields) - 1
	cond := compare(last, follows)
	for i := last - 1; i >= 0; i-- {
		cond = clause.And(compare(i, follows+"="),
			clause.Or(compare(i, follows), clause.And(compare(i, "="), cond)))
	}
	return cond
}

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
				"xmodels: cursor: column %s is NULL: keyset pagination requires NOT NULL columns",
				f.DBName)
		}
		c.Columns, c.Values = append(c.Columns, f.DBName), append(c.Values, text)
	}
	text, _ := json.Marshal(c) // c contains strings and valid JSON only
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
		return nil, errOrderMismatch
	}
	values := make([]any, len(fields))
	for i, f := range fields {
		if c.Columns[i] != f.DBName || bytes.Equal(c.Values[i], []byte("null")) {
			return nil, errOrderMismatch
		}
		value := reflect.New(f.FieldType)
		if err := json.Unmarshal(c.Values[i], value.Interface()); err != nil {
			return nil, err
		}
		values[i] = value.Elem().Interface()
	}
	return values, nil
}

var errOrderMismatch = errors.New("the cursor was made for another order")
