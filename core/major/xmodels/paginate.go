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

// PageOption configures Paginate, PageScope and Keyset.
type PageOption func(*pageConfig)

type pageConfig struct {
	sortBy  []string
	allowed []string // nil allows every column
	count   bool
}

func newPageConfig(opts []PageOption) pageConfig {
	c := pageConfig{count: true}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// SortBy orders by the columns, in this order, instead of by the primary key only. A
// column is the name of a database column or of a field of the entity. Any other name is
// a ParameterError, so a client may supply the name.
func SortBy(columns ...string) PageOption {
	return func(c *pageConfig) { c.sortBy = append(c.sortBy, columns...) }
}

// AllowSort restricts SortBy to the columns. Other columns are a ParameterError.
func AllowSort(columns ...string) PageOption {
	return func(c *pageConfig) { c.allowed = append(c.allowed, columns...) }
}

// WithoutCount omits the total. On a large table, counting is more expensive than reading
// the page.
func WithoutCount() PageOption {
	return func(c *pageConfig) { c.count = false }
}

// Paginate returns the requested page of tx's rows.
//
//	active := xdb.MustGetDB(ctx).Where("active = ?", true)
//	page, err := xmodels.Paginate[User](active, r, xmodels.SortBy("username"))
//
// The primary key follows the columns of SortBy, or of tx's own Order. The order is
// therefore total, and every row is on exactly one page. A page after the last one is
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

// PageScope returns the gorm scope that Paginate uses. It orders the rows and selects the
// page. If total is not nil, it first counts all rows and stores the number in *total.
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
			counter := tx.Session(&gorm.Session{Initialized: true}) // does not change tx
			if err := counter.Count(total).Error; err != nil {
				_ = tx.AddError(err)
				return tx
			}
			if int64(r.Offset()) >= *total {
				return tx.Where("1 = 0") // skip the scan for an empty page
			}
		}
		return orderBy(tx, fields, r).Offset(r.Offset()).Limit(r.Limit())
	}
}

// fields returns the fields of the order: the sort columns, then the primary key.
func (c pageConfig) fields(tx *gorm.DB) ([]*schema.Field, error) {
	model := cmp.Or(tx.Statement.Model, tx.Statement.Dest)
	stmt := &gorm.Statement{DB: tx}
	if err := stmt.Parse(model); err != nil {
		return nil, fmt.Errorf("xmodels: page of %T: %w", model, err)
	}
	var fields []*schema.Field
	for _, name := range c.sortBy {
		f := stmt.Schema.LookUpField(name)
		if f == nil || f.DBName == "" || c.forbids(stmt.Schema, f) {
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

// forbids reports whether AllowSort excludes the field.
func (c pageConfig) forbids(s *schema.Schema, f *schema.Field) bool {
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
