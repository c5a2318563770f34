package migrate

import (
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// checkTableNames returns an error for each table that gorm would create next to the one
// of the same name in the other number, which has the rows: user next to users. It
// does not concern models that name their tables themselves.
func checkTableNames(tx *gorm.DB, models []any) error {
	naming, ok := namingOf(tx)
	if !ok {
		return nil
	}
	used, schemas := map[string]bool{}, make([]*schema.Schema, 0, len(models))
	for _, model := range models {
		stmt := &gorm.Statement{DB: tx}
		if stmt.Parse(model) == nil { // else the migration reports it
			used[stmt.Schema.Table] = true
			schemas = append(schemas, stmt.Schema)
		}
	}
	number := naming
	number.SingularTable = !naming.SingularTable
	var problems []error
	for _, s := range schemas {
		other := number.TableName(s.Name)
		if namesItself(s) || used[other] || tx.Migrator().HasTable(s.Table) || !tx.Migrator().HasTable(other) {
			continue
		}
		problems = append(problems, fmt.Errorf("the table %s of the model %s is missing, and the table %s exists: "+
			"set DATABASE_SINGULAR_TABLES=%t to use it, or rename it, or give the model a method TableName that returns %q "+
			"if both are meant", s.Table, s.Name, other, number.SingularTable, s.Table))
	}
	return errors.Join(problems...)
}

func namesItself(s *schema.Schema) bool {
	switch reflect.New(s.ModelType).Interface().(type) {
	case schema.Tabler, schema.TablerWithNamer:
		return true
	default:
		return false
	}
}

// namingOf returns the naming strategy of a database, unless it is one of the
// application's own.
func namingOf(db *gorm.DB) (naming schema.NamingStrategy, ok bool) {
	switch namer := db.NamingStrategy.(type) {
	case schema.NamingStrategy:
		return namer, true
	case *schema.NamingStrategy:
		return *namer, true
	default:
		return naming, false
	}
}
