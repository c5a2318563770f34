package xmodels

import (
	"cmp"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// PageOption changes how pages are made.
type PageOption func(*pageConfig)

// pageConfig is what the options say.
type pageConfig struct {
	sortBy  []string
	allowed []string // nil: every column
	count   bool
}

func newPageConfig(opts []PageOption) pageConfig {
	c := pageConfig{count: true}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// SortBy orders by these columns, the first one first, instead of by the primary key. A
// column is named as in the database or as the field of the entity; any other text is
// refused with a ParameterError, so that a name may come from the client.
func SortBy(columns ...string) PageOption {
	return func(c *pageConfig) { c.sortBy = append(c.sortBy, columns...) }
}

// AllowSort refuses to sort by any column but these.
func AllowSort(columns ...string) PageOption {
	return func(c *pageConfig) { c.allowed = append(c.allowed, columns...) }
}

// WithoutCount leaves the total uncounted: on a large table the count costs more than the
// page.
func WithoutCount() PageOption {
	return func(c *pageConfig) { c.count = false }
}

// Paginate returns the page of tx's rows that r asks for.
//
//	page, err := xmodels.Paginate[User](xdb.MustGetDB(ctx).Where("active = ?", true), r, xmodels.SortBy("username"))
//
// The order is total: after the columns of SortBy, or of tx's own Order, comes the
// primary key, so that no row stands on two pages or none. A page beyond the last is
// empty.
func Paginate[T any](tx *gorm.DB, r PageRequest, opts ...PageOption) (*PageResponse[T], error) {
	total, items := int64(notCounted), []T{}
	counter := &total
	if !newPageConfig(opts).count {
		counter = nil
	}
	if err := tx.Scopes(PageScope(r, counter, opts...)).Find(&items).Error; err != nil {
		return nil, fmt.Errorf("xmodels: page: %w", err)
	}
	return NewPageFromRequest(r, total, items), nil
}

// PageScope is the gorm scope behind Paginate: it orders and cuts out the page, and if
// total is not nil first counts all rows into it.
//
//	var total int64
//	err := db.Scopes(xmodels.PageScope(r, &total)).Find(&users).Error
func PageScope(r PageRequest, total *int64, opts ...PageOption) func(*gorm.DB) *gorm.DB {
	r, c := r.Normalize(), newPageConfig(opts)
	return func(tx *gorm.DB) *gorm.DB {
		fields, err := c.fields(tx)
		if err != nil {
			_ = tx.AddError(err)
			return tx
		}
		if total != nil {
			counter := tx.Session(&gorm.Session{Initialized: true}) // tx stays as it is
			if err := counter.Count(total).Error; err != nil {
				_ = tx.AddError(err)
				return tx
			}
			if int64(r.Offset()) >= *total {
				return tx.Where("1 = 0") // no database need walk to a page that is not there
			}
		}
		return orderBy(tx, fields, r).Offset(r.Offset()).Limit(r.Limit())
	}
}

// fields returns what the page is ordered by: the wanted columns, and what makes the
// order total.
func (c pageConfig) fields(tx *gorm.DB) ([]*schema.Field, error) {
	model := cmp.Or(tx.Statement.Model, tx.Statement.Dest)
	stmt := &gorm.Statement{DB: tx}
	if err := stmt.Parse(model); err != nil {
		return nil, fmt.Errorf("xmodels: page of %T: %w", model, err)
	}
	var fields []*schema.Field
	for _, name := range c.sortBy {
		f := stmt.Schema.LookUpField(name)
		if f == nil || f.DBName == "" || c.refuses(stmt.Schema, f) {
			return nil, xerror.New(xerror.ParameterError,
				"the list cannot be sorted by this column")
		}
		fields = append(fields, f)
	}
	if len(stmt.Schema.PrimaryFields) == 0 {
		return nil, fmt.Errorf("xmodels: page of %T: %w", model, gorm.ErrPrimaryKeyRequired)
	}
	for _, key := range stmt.Schema.PrimaryFields {
		if !slices.Contains(fields, key) {
			fields = append(fields, key)
		}
	}
	return fields, nil
}

// refuses reports whether AllowSort leaves out the field.
func (c pageConfig) refuses(s *schema.Schema, f *schema.Field) bool {
	return c.allowed != nil &&
		!slices.ContainsFunc(c.allowed, func(name string) bool { return s.LookUpField(name) == f })
}

func orderBy(tx *gorm.DB, fields []*schema.Field, r PageRequest) *gorm.DB {
	for _, f := range fields {
		tx = tx.Order(clause.OrderByColumn{Column: columnOf(f), Desc: r.Descending()})
	}
	return tx
}

func columnOf(f *schema.Field) clause.Column {
	return clause.Column{Table: clause.CurrentTable, Name: f.DBName}
}
