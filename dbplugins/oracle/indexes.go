package oracle

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// BuildIndexOptions implements migrator.BuildIndexOptionsInterface. It ignores lengths
// and collations.
func (tableMigrator) BuildIndexOptions(opts []schema.IndexOption, stmt *gorm.Statement) []any {
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

// CreateIndex implements gorm.Migrator. It ignores index methods, conditions and
// comments, which Oracle does not support.
func (m tableMigrator) CreateIndex(value any, name string) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		if stmt.Schema == nil {
			return errNoSchema
		}
		index := stmt.Schema.LookIndex(name)
		if index == nil {
			return fmt.Errorf("oracle: %s has no index %q", stmt.Schema.Name, name)
		}
		kind := strings.TrimSpace("CREATE " + index.Class)
		query := strings.TrimSpace(kind + " INDEX ? ON ? ? " + index.Option)
		return m.newSession().Exec(query, clause.Column{Name: index.Name}, m.CurrentTable(stmt),
			m.BuildIndexOptions(index.Fields, stmt)).Error
	})
}

// HasIndex implements gorm.Migrator.
func (m tableMigrator) HasIndex(value any, name string) bool {
	const query = "all_indexes WHERE table_" + ofOwner + " AND table_name = ? AND index_name = ?"
	return m.has(value, query, func(stmt *gorm.Statement) (string, []any) {
		return stmt.Table, []any{catalogName(indexName(stmt, name))}
	})
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
func (m tableMigrator) DropIndex(value any, name string) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		return m.newSession().Exec("DROP INDEX ?", clause.Column{Name: indexName(stmt, name)}).Error
	})
}
