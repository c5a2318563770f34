package oracle

import (
	"database/sql"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// FullDataTypeOf returns the type of a column with its default, which must precede NOT
// NULL.
func (m tableMigrator) FullDataTypeOf(field *schema.Field) clause.Expr {
	text := m.DataTypeOf(field) + m.defaultOf(field)
	if field.NotNull {
		text += " NOT NULL"
	}
	return clause.Expr{SQL: text}
}

func (m tableMigrator) defaultOf(field *schema.Field) string {
	switch {
	case !field.HasDefaultValue || field.AutoIncrement:
		return ""
	case field.DefaultValueInterface != nil:
		return " DEFAULT " + m.Explain(":1", field.DefaultValueInterface)
	case field.DefaultValue == "" || field.DefaultValue == "(-)":
		return ""
	default:
		return " DEFAULT " + field.DefaultValue
	}
}

// HasColumn implements gorm.Migrator.
func (m tableMigrator) HasColumn(value any, name string) bool {
	const query = "all_tab_columns WHERE " + ofOwner + " AND table_name = ? AND column_name = ?"
	return m.has(value, query, func(stmt *gorm.Statement) (string, []any) {
		return stmt.Table, []any{catalogName(driver.ColumnName(stmt, name))}
	})
}

// MigrateColumn implements gorm.Migrator. It alters a column whose type differs, and
// removes a NOT NULL that is no longer required. Like gorm's other drivers, it does not
// add NOT NULL, because existing rows may contain NULL. It does not compare defaults.
func (m tableMigrator) MigrateColumn(value any, field *schema.Field, c gorm.ColumnType) error {
	if field.IgnoreMigration {
		return nil
	}
	nullable, known := c.Nullable()
	dropNotNull := known && !nullable && !field.NotNull
	want := strings.TrimSuffix(m.DataTypeOf(field), identity)
	got, ok := c.ColumnType()
	differs := ok && knownType.MatchString(want) && got != want
	if (dropNotNull || differs) && !field.PrimaryKey {
		if dropNotNull {
			want += " NULL"
		}
		err := m.RunWithValue(value, func(stmt *gorm.Statement) error {
			return m.newSession().Exec("ALTER TABLE ? MODIFY (? ?)",
				m.CurrentTable(stmt), clause.Column{Name: field.DBName},
				clause.Expr{SQL: want}).Error
		})
		if err != nil {
			return err
		}
	}
	return m.MigrateColumnUnique(value, field, c)
}

// catalogColumn is a row of all_tab_columns.
type catalogColumn struct {
	ColumnName, DataType, Nullable, CharUsed string

	CharLength, DataLength   int64
	DataPrecision, DataScale sql.NullInt64
}

// fullType returns the type in the spelling of dataType.
func (c catalogColumn) fullType() string {
	switch {
	case c.CharUsed == "C":
		return fmt.Sprintf("%s(%d CHAR)", c.DataType, c.CharLength)
	case c.DataType == "RAW":
		return fmt.Sprintf("RAW(%d)", c.DataLength)
	case c.DataType == "NUMBER" && c.DataPrecision.Valid:
		return numberType(int(c.DataPrecision.Int64), int(c.DataScale.Int64))
	case c.DataType == "NUMBER" && c.DataScale.Valid: // INTEGER
		return numberType(38, int(c.DataScale.Int64))
	default:
		return c.DataType
	}
}

// ColumnTypes implements gorm.Migrator. It returns the properties that a migration
// compares.
func (m tableMigrator) ColumnTypes(value any) ([]gorm.ColumnType, error) {
	var types []gorm.ColumnType
	err := m.RunWithValue(value, func(stmt *gorm.Statement) error {
		owner, table := splitTable(stmt.Table)
		var found []catalogColumn
		err := m.DB.Raw("SELECT column_name, data_type, nullable, char_used, char_length, "+
			"data_length, data_precision, data_scale FROM all_tab_columns WHERE "+ofOwner+
			" AND table_name = ? ORDER BY column_id", owner, table).Scan(&found).Error
		if err != nil {
			return err
		}
		unique, err := m.uniqueColumns(owner, table)
		if err != nil {
			return err
		}
		for _, c := range found {
			types = append(types, migrator.ColumnType{
				NameValue:       sql.NullString{String: gormName(c.ColumnName), Valid: true},
				DataTypeValue:   sql.NullString{String: c.DataType, Valid: true},
				ColumnTypeValue: sql.NullString{String: c.fullType(), Valid: true},
				UniqueValue:     sql.NullBool{Bool: unique[c.ColumnName], Valid: true},
				NullableValue:   sql.NullBool{Bool: c.Nullable == "Y", Valid: true},
			})
		}
		return nil
	})
	return types, err
}

// uniqueColumns returns the columns that have a unique constraint of one column.
func (m tableMigrator) uniqueColumns(owner, table string) (map[string]bool, error) {
	var found []struct {
		ColumnName  string
		ColumnCount int64
	}
	err := m.DB.Raw("SELECT c.column_name, "+
		"COUNT(*) OVER (PARTITION BY k.constraint_name) AS column_count "+
		"FROM all_constraints k JOIN all_cons_columns c "+
		"ON c.owner = k.owner AND c.constraint_name = k.constraint_name "+
		"WHERE k."+ofOwner+" AND k.table_name = ? AND k.constraint_type = 'U'",
		owner, table).Scan(&found).Error
	unique := map[string]bool{}
	for _, f := range found {
		unique[f.ColumnName] = unique[f.ColumnName] || f.ColumnCount == 1
	}
	return unique, err
}
