package oracle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
)

// tableMigrator implements gorm.Migrator.
type tableMigrator struct{ migrator.Migrator }

var errNoSchema = errors.New("oracle: the value has no schema")

// ofOwner restricts a catalog view to the owner of the table. An empty string is NULL in
// Oracle.
const ofOwner = "owner = NVL(?, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))"

// has reports whether the catalog query returns rows for value's table. find returns the
// table name and the remaining arguments.
func (m tableMigrator) has(
	value any, query string, find func(*gorm.Statement) (table string, args []any),
) bool {
	var n int64
	_ = m.RunWithValue(value, func(stmt *gorm.Statement) error {
		table, args := find(stmt)
		owner, name := splitTable(table)
		args = append([]any{owner, name}, args...)
		return m.DB.Raw("SELECT count(*) FROM "+query, args...).Row().Scan(&n)
	})
	return n > 0
}

// GetTables implements gorm.Migrator.
func (m tableMigrator) GetTables() (names []string, err error) {
	const query = "SELECT table_name FROM user_tables WHERE dropped = 'NO' ORDER BY table_name"
	err = m.DB.Raw(query).Scan(&names).Error
	for i, name := range names {
		names[i] = gormName(name)
	}
	return names, err
}

// HasTable implements gorm.Migrator.
func (m tableMigrator) HasTable(value any) bool {
	const query = "all_tables WHERE " + ofOwner + " AND table_name = ? AND dropped = 'NO'"
	return m.has(value, query,
		func(stmt *gorm.Statement) (string, []any) { return stmt.Table, nil })
}

// CreateTable implements gorm.Migrator. It creates foreign keys after the tables instead
// of in the CREATE TABLE statement.
func (m tableMigrator) CreateTable(values ...any) error {
	values = m.ReorderModels(values, false)
	if err := m.each(values, checkColumns); err != nil {
		return err
	}
	bare := m.Migrator
	bare.DB = m.newSession()
	bare.DB.DisableForeignKeyConstraintWhenMigrating = true
	if err := bare.CreateTable(values...); err != nil {
		return err
	}
	if m.DB.DisableForeignKeyConstraintWhenMigrating || m.DB.IgnoreRelationshipsWhenMigrating {
		return nil
	}
	return m.each(values, m.createForeignKeys)
}

// each calls do with the statement of each value.
func (m tableMigrator) each(values []any, do func(*gorm.Statement) error) error {
	for _, value := range values {
		if err := m.RunWithValue(value, do); err != nil {
			return err
		}
	}
	return nil
}

func checkColumns(stmt *gorm.Statement) error {
	if stmt.Schema == nil {
		return errNoSchema
	}
	for _, name := range stmt.Schema.DBNames {
		if name != gormName(name) && !stmt.Schema.FieldsByDBName[name].IgnoreMigration {
			return fmt.Errorf("oracle: column %s of %s is not lower case "+
				"and cannot be mapped to its field in results: set column:%s in lower case",
				name, stmt.Table, name)
		}
	}
	return nil
}

func (m tableMigrator) createForeignKeys(stmt *gorm.Statement) error {
	relations := stmt.Schema.Relationships.Relations
	for _, name := range slices.Sorted(maps.Keys(relations)) {
		if relations[name].Field.IgnoreMigration {
			continue
		}
		if key := relations[name].ParseConstraint(); key != nil && key.Schema == stmt.Schema {
			if err := m.addConstraint(clause.Table{Name: stmt.Table}, key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m tableMigrator) addConstraint(table clause.Table, c schema.ConstraintInterface) error {
	text, vars := build(c)
	return m.newSession().Exec("ALTER TABLE ? ADD "+text, append([]any{table}, vars...)...).Error
}

// newSession returns a *gorm.DB without the conditions of another statement.
func (m tableMigrator) newSession() *gorm.DB { return m.DB.Session(&gorm.Session{}) }

// build returns the SQL of a constraint. It omits ON UPDATE, and the ON DELETE actions
// other than CASCADE and SET NULL, because Oracle does not support them.
func build(c schema.ConstraintInterface) (string, []any) {
	key, ok := c.(*schema.Constraint)
	if !ok {
		return c.Build()
	}
	plain := *key
	plain.OnUpdate = ""
	if action := strings.ToUpper(plain.OnDelete); action != "CASCADE" && action != "SET NULL" {
		plain.OnDelete = ""
	}
	return plain.Build()
}

// DropTable implements gorm.Migrator.
func (m tableMigrator) DropTable(values ...any) error {
	for _, value := range slices.Backward(m.ReorderModels(values, false)) {
		if !m.HasTable(value) {
			continue // IF EXISTS requires 23ai
		}
		err := m.RunWithValue(value, func(stmt *gorm.Statement) error {
			return m.newSession().Exec("DROP TABLE ? CASCADE CONSTRAINTS",
				m.CurrentTable(stmt)).Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// HasConstraint implements gorm.Migrator.
func (m tableMigrator) HasConstraint(value any, name string) bool {
	const query = "all_constraints WHERE " + ofOwner + " AND table_name = ? AND constraint_name = ?"
	return m.has(value, query, func(stmt *gorm.Statement) (string, []any) {
		c, table := m.GuessConstraintInterfaceAndTable(stmt, name)
		if c != nil {
			name = c.GetName()
		}
		return table, []any{catalogName(name)}
	})
}

// CreateConstraint implements gorm.Migrator.
func (m tableMigrator) CreateConstraint(value any, name string) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		c, table := m.GuessConstraintInterfaceAndTable(stmt, name)
		if c == nil {
			return nil
		}
		return m.addConstraint(clause.Table{Name: table}, c)
	})
}
