package driver

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// ColumnName returns the column that a clause names by column, by field of the entity or
// as clause.PrimaryKey. It returns other names unchanged.
func ColumnName(stmt *gorm.Statement, name string) string {
	s := stmt.Schema
	if s == nil {
		return name
	}
	if name == clause.PrimaryKey && s.PrioritizedPrimaryField != nil {
		return s.PrioritizedPrimaryField.DBName
	}
	if field := s.LookUpField(name); field != nil {
		return field.DBName
	}
	return name
}
