package migrate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// checkTableNames returns an error for each table that gorm would create although a table
// with the singular or plural form of its name exists: user next to users. It checks the
// models, and the associated models and join tables that gorm migrates with them. It
// skips models that define the names of their tables.
func checkTableNames(tx *gorm.DB, models []any) error {
	naming, ok := namingOf(tx)
	if !ok {
		return nil
	}
	schemas := migrated(tx, models)
	used := map[string]bool{}
	for _, s := range schemas {
		used[s.Table] = true
	}
	var problems []error
	for _, s := range schemas {
		other := otherName(naming, s)
		if other != "" && !used[other] && !tx.Migrator().HasTable(s.Table) &&
			tx.Migrator().HasTable(other) {
			problems = append(problems, tableNameProblem(naming, s, other))
		}
	}
	return errors.Join(problems...)
}

// migrated returns the schemas that gorm's AutoMigrate creates or changes: the models and
// the models that they refer to.
func migrated(tx *gorm.DB, models []any) (schemas []*schema.Schema) {
	m, ok := tx.Migrator().(interface {
		ReorderModels(models []any, autoAdd bool) []any
	})
	if ok { // true for every migrator that embeds gorm's
		models = m.ReorderModels(models, true)
	}
	for _, model := range models {
		stmt := &gorm.Statement{DB: tx}
		if stmt.Parse(model) == nil {
			schemas = append(schemas, stmt.Schema)
		}
	}
	return schemas
}

func tableNameProblem(naming schema.NamingStrategy, s *schema.Schema, other string) error {
	kind, fix := "model", fmt.Sprintf("give the model a method TableName that returns %q", s.Table)
	if isJoinTable(s) {
		kind = "association"
		fix = "name it many2many:" + strings.TrimPrefix(s.Table, naming.TablePrefix)
	}
	return fmt.Errorf(
		"the table %s of the %s %s is missing, and the table %s exists: "+
			"set %s=%t to use it, or rename it, or %s if you need both",
		s.Table, kind, s.Name, other, "DATABASE_SINGULAR_TABLES", !naming.SingularTable, fix)
}

// isJoinTable reports whether gorm generated the model for a many2many association.
func isJoinTable(s *schema.Schema) bool { return s.ModelType.Name() == "" }

// otherName returns the singular name of a plural table and vice versa, or "" if there is
// no other name.
func otherName(naming schema.NamingStrategy, s *schema.Schema) string {
	switch reflect.New(s.ModelType).Interface().(type) {
	case schema.Tabler, schema.TablerWithNamer:
		return ""
	}
	naming.SingularTable = !naming.SingularTable
	name := naming.TableName
	if isJoinTable(s) {
		name = naming.JoinTableName
	}
	if other := name(s.Name); s.Name != "" && other != s.Table {
		return other
	}
	return ""
}

// namingOf returns the naming strategy of db; ok is false for a custom type.
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
