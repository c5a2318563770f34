package driver

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// ColumnName returns the column of a statement's table that a clause names, be it by the
// column, by the field of the entity or as clause.PrimaryKey. What the entity does not
// know stays as it is.
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
