package oracle

import (
	"database/sql"
	"reflect"

	go_ora "github.com/sijms/go-ora/v2"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// out is an output parameter for one field of one row.
type out struct {
	row   int
	field *schema.Field
	dest  any
}

// writeReturning writes RETURNING for generated fields and for those of clause.Returning.
func (r row) writeReturning() {
	if _, ok := r.entity(r.index); !ok {
		return
	}
	fields := r.returned()
	if len(fields) == 0 {
		return
	}
	r.inBlock = true
	write(r, " RETURNING ")
	writeEach(r, len(fields), ",", func(i int) { write(r, quoted(fields[i].DBName)) })
	write(r, " INTO ")
	writeEach(r, len(fields), ",", func(i int) {
		o := &out{row: r.index, field: fields[i]}
		r.AddVar(r, o.bindVar())
		r.outs = append(r.outs, o)
	})
}

func (r row) returned() []*schema.Field {
	var fields []*schema.Field
	if returning, ok := r.Clauses["RETURNING"].Expression.(clause.Returning); ok {
		for _, name := range r.Schema.DBNames {
			field := r.Schema.FieldsByDBName[name]
			if field.Readable && (len(returning.Columns) == 0 || r.includes(returning, name)) {
				fields = append(fields, field)
			}
		}
		return fields
	}
	for _, field := range r.Schema.FieldsWithDefaultDBValue {
		if field.Readable && field.DBName != "" && !r.has(field.DBName) {
			fields = append(fields, field)
		}
	}
	return fields
}

func (r row) includes(returning clause.Returning, name string) bool {
	for _, c := range returning.Columns {
		if c.Name == "*" || driver.ColumnName(r.Statement, c.Name) == name {
			return true
		}
	}
	return false
}

// bindVar returns the output parameter of the field. A string needs a size.
func (o *out) bindVar() any {
	switch o.field.GORMDataType {
	case schema.Bool, schema.Int, schema.Uint:
		o.dest = &sql.NullInt64{}
	case schema.Float:
		o.dest = &sql.NullFloat64{}
	case schema.Time:
		o.dest = &sql.NullTime{}
	case schema.Bytes:
		o.dest = &[]byte{}
		return go_ora.Out{Dest: o.dest, Size: longestRaw}
	default:
		o.dest = &sql.NullString{}
		return go_ora.Out{Dest: o.dest, Size: longestText}
	}
	return sql.Out{Dest: o.dest}
}

// value returns the returned value. It returns false for NULL or if the row was not
// inserted.
func (o *out) value() (any, bool) {
	switch dest := o.dest.(type) {
	case *sql.NullInt64:
		return dest.Int64, dest.Valid
	case *sql.NullFloat64:
		return dest.Float64, dest.Valid
	case *sql.NullTime:
		return dest.Time.UTC(), dest.Valid
	case *sql.NullString:
		return dest.String, dest.Valid
	case *[]byte:
		return *dest, *dest != nil
	default:
		return nil, false
	}
}

// store sets the fields of the entities.
func (in *insertion) store() {
	for _, o := range in.outs {
		v, ok := o.value()
		if !ok {
			continue
		}
		if rv, ok := in.entity(o.row); ok {
			_ = in.AddError(o.field.Set(in.Context, reflect.Indirect(rv), v))
		}
	}
}
