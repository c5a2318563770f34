package sqlserver

import (
	"maps"
	"slices"
	"strings"

	gormsqlserver "gorm.io/driver/sqlserver"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/migrator"
)

// tableMigrator is gorm's migrator with the types of this package. It replaces RESTRICT,
// which T-SQL does not support, with the equivalent NO ACTION.
type tableMigrator struct{ gormsqlserver.Migrator }

// Migrator implements gorm.Dialector.
func (d *dialector) Migrator(db *gorm.DB) gorm.Migrator {
	return tableMigrator{gormsqlserver.Migrator{Migrator: migrator.Migrator{Config: migrator.Config{
		DB: db, Dialector: d, CreateIndexAfterCreateTable: true,
	}}}}
}

// CreateTable implements gorm.Migrator. It creates foreign keys after the tables instead
// of in the CREATE TABLE statement.
func (m tableMigrator) CreateTable(values ...any) error {
	bare := m.Migrator
	bare.DB = m.DB.Session(&gorm.Session{})
	bare.DB.DisableForeignKeyConstraintWhenMigrating = true
	if err := bare.CreateTable(values...); err != nil {
		return err
	}
	if m.DB.DisableForeignKeyConstraintWhenMigrating || m.DB.IgnoreRelationshipsWhenMigrating {
		return nil
	}
	for _, value := range m.ReorderModels(values, false) {
		if err := m.createForeignKeys(value); err != nil {
			return err
		}
	}
	return nil
}

func (m tableMigrator) createForeignKeys(value any) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		relations := stmt.Schema.Relationships.Relations
		for _, name := range slices.Sorted(maps.Keys(relations)) {
			if relations[name].Field.IgnoreMigration {
				continue
			}
			key := relations[name].ParseConstraint()
			if key == nil || key.Schema != stmt.Schema {
				continue
			}
			if err := m.CreateConstraint(value, key.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// CreateConstraint implements gorm.Migrator.
func (m tableMigrator) CreateConstraint(value any, name string) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		constraint, table := m.GuessConstraintInterfaceAndTable(stmt, name)
		if constraint == nil {
			return nil
		}
		sql, parts := constraint.Build() // parts contains names and conditions
		vars := append([]any{clause.Table{Name: table}}, parts...)
		if stmt.TableExpr != nil {
			vars[0] = *stmt.TableExpr
		}
		return m.DB.Exec("ALTER TABLE ? ADD "+strings.ReplaceAll(sql, "RESTRICT", "NO ACTION"),
			vars...).Error
	})
}
