package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// BuildIndexOptions implements migrator.BuildIndexOptionsInterface. An index is of whole values, in the order of the session.
func (tables) BuildIndexOptions(opts []schema.IndexOption, stmt *gorm.Statement) []any {
	parts := make([]any, len(opts))
	for i, opt := range opts {
		text := opt.Expression
		if text == "" {
			text = stmt.Quote(opt.DBName)
		}
		parts[i] = clause.Expr{SQL: strings.TrimSpace(text + " " + opt.Sort)}
	}
	return parts
}

// CreateIndex implements gorm.Migrator.
func (m tables) CreateIndex(value any, name string) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		if stmt.Schema == nil {
			return errNoSchema
		}
		index := stmt.Schema.LookIndex(name)
		if index == nil {
			return fmt.Errorf("oracle: %s has no index %q", stmt.Schema.Name, name)
		}
		return m.createIndex(stmt, index)
	})
}

// createIndex leaves out what Oracle has no place for: a method, a condition, a comment.
func (m tables) createIndex(stmt *gorm.Statement, index *schema.Index) error {
	kind := strings.TrimSpace("CREATE " + index.Class)
	query := strings.TrimSpace(kind + " INDEX ? ON ? ? " + index.Option)
	return m.fresh().Exec(query, clause.Column{Name: index.Name}, m.CurrentTable(stmt),
		m.BuildIndexOptions(index.Fields, stmt)).Error
}

// HasIndex implements gorm.Migrator.
func (m tables) HasIndex(value any, name string) bool {
	var n int64
	_ = m.RunWithValue(value, func(stmt *gorm.Statement) (err error) {
		owner, table := split(stmt.Table)
		n, err = m.count("all_indexes WHERE table_"+ofOwner+" AND table_name = ? AND index_name = ?", owner, table,
			raised(indexName(stmt, name)))
		return err
	})
	return n > 0
}

func indexName(stmt *gorm.Statement, name string) string {
	if stmt.Schema != nil {
		if index := stmt.Schema.LookIndex(name); index != nil {
			return index.Name
		}
	}
	return name
}

// DropIndex implements gorm.Migrator.
func (m tables) DropIndex(value any, name string) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		return m.fresh().Exec("DROP INDEX ?", clause.Column{Name: indexName(stmt, name)}).Error
	})
}

// RenameIndex implements gorm.Migrator.
func (m tables) RenameIndex(_ any, from, to string) error {
	return m.fresh().Exec("ALTER INDEX ? RENAME TO ?", clause.Column{Name: from}, clause.Column{Name: to}).Error
}

// GetIndexes implements gorm.Migrator.
func (m tables) GetIndexes(value any) ([]gorm.Index, error) {
	var indexes []gorm.Index
	err := m.RunWithValue(value, func(stmt *gorm.Statement) error {
		var found []struct{ Name, Uniqueness, ColumnName, IndexKind string }
		owner, table := split(stmt.Table)
		err := m.DB.Raw(`SELECT i.index_name AS name, i.uniqueness, c.column_name,
(SELECT MAX(k.constraint_type) FROM all_constraints k WHERE k.owner = i.table_owner AND k.table_name = i.table_name
AND k.index_name = i.index_name AND k.constraint_type = 'P') AS index_kind
FROM all_indexes i JOIN all_ind_columns c ON c.index_owner = i.owner AND c.index_name = i.index_name
WHERE i.table_`+ofOwner+` AND i.table_name = ? ORDER BY i.index_name, c.column_position`, owner, table).Scan(&found).Error
		for _, f := range found {
			name := lowered(f.Name)
			if n := len(indexes); n > 0 && indexes[n-1].Name() == name {
				last := indexes[n-1].(*migrator.Index) //nolint:forcetypeassert // it was made here
				last.ColumnList = append(last.ColumnList, lowered(f.ColumnName))
				continue
			}
			index := &migrator.Index{TableName: stmt.Table, NameValue: name, ColumnList: []string{lowered(f.ColumnName)}}
			index.UniqueValue.Bool, index.UniqueValue.Valid = f.Uniqueness == "UNIQUE", true
			index.PrimaryKeyValue.Bool, index.PrimaryKeyValue.Valid = f.IndexKind == "P", true
			indexes = append(indexes, index)
		}
		return err
	})
	return indexes, err
}
