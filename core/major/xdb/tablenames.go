package xdb

import (
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
)

// checkTableNames returns an error for each model whose table is missing while the table of the same name
// in the other number exists: user in place of users. To migrate would create an empty table next to that
// with the rows. It does not concern models that name their tables themselves.
func checkTableNames(tx *gorm.DB, models []any) error {
	naming, ok := namingOf(tx)
	if !ok {
		return nil
	}
	var schemas []*schema.Schema
	used := map[string]bool{}
	for _, model := range models {
		stmt := &gorm.Statement{DB: tx}
		if stmt.Parse(model) == nil { // the migration reports the others
			schemas = append(schemas, stmt.Schema)
			used[stmt.Schema.Table] = true
		}
	}
	var problems []error
	for _, s := range schemas {
		other := otherNumber(naming, s)
		if other == "" || used[other] || tx.Migrator().HasTable(s.Table) || !tx.Migrator().HasTable(other) {
			continue
		}
		problems = append(problems, fmt.Errorf(
			"the table %s of the model %s is missing, and the table %s exists: set %s=%t to use it, or rename it, "+
				"or give the model a method TableName that returns %q if both are meant",
			s.Table, s.Name, other, xEnv.DatabaseSingularTables, !naming.SingularTable, s.Table))
	}
	return errors.Join(problems...)
}

// otherNumber returns the name that the table has in the other number; "" if it has none.
func otherNumber(naming schema.NamingStrategy, s *schema.Schema) string {
	switch reflect.New(s.ModelType).Interface().(type) {
	case schema.Tabler, schema.TablerWithNamer:
		return ""
	}
	naming.SingularTable = !naming.SingularTable
	if other := naming.TableName(s.Name); s.Name != "" && other != s.Table {
		return other
	}
	return ""
}

// namingOf returns the naming strategy of a database, unless it is one of the application's own.
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
