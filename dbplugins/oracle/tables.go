package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
)

// tables is the dialector's gorm.Migrator.
type tables struct{ migrator.Migrator }

var errNoSchema = errors.New("oracle: the value has no schema")

// ofOwner is the condition that a view of the catalog speaks of the table's owner; an
// empty text is NULL here.
const ofOwner = "owner = NVL(?, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))"

// has reports whether the query on the catalog finds something of value's table. find
// returns the name of the table and what else the query compares.
func (m tables) has(value any, query string, find func(*gorm.Statement) (table string, args []any)) bool {
	var n int64
	_ = m.RunWithValue(value, func(stmt *gorm.Statement) error {
		table, args := find(stmt)
		owner, name := split(table)
		args = append([]any{owner, name}, args...)
		return m.DB.Raw("SELECT count(*) FROM "+query, args...).Row().Scan(&n)
	})
	return n > 0
}

// GetTables implements gorm.Migrator.
func (m tables) GetTables() (names []string, err error) {
	err = m.DB.Raw("SELECT table_name FROM user_tables WHERE dropped = 'NO' ORDER BY table_name").Scan(&names).Error
	for i, name := range names {
		names[i] = lowered(name)
	}
	return names, err
}

// HasTable implements gorm.Migrator.
func (m tables) HasTable(value any) bool {
	const query = "all_tables WHERE " + ofOwner + " AND table_name = ? AND dropped = 'NO'"
	return m.has(value, query, func(stmt *gorm.Statement) (string, []any) { return stmt.Table, nil })
}

// CreateTable implements gorm.Migrator.
func (m tables) CreateTable(values ...any) error {
	for _, value := range m.ReorderModels(values, false) {
		if err := m.RunWithValue(value, m.createTable); err != nil {
			return err
		}
	}
	return nil
}

func (m tables) createTable(stmt *gorm.Statement) error {
	if stmt.Schema == nil {
		return errNoSchema
	}
	parts, vars := []string{}, []any{m.CurrentTable(stmt)}
	add := func(part string, of ...any) { parts, vars = append(parts, part), append(vars, of...) }
	for _, name := range stmt.Schema.DBNames {
		if field := stmt.Schema.FieldsByDBName[name]; !field.IgnoreMigration {
			if name != lowered(name) {
				return fmt.Errorf("oracle: the column %s of %s would not find its field in results: write column:%s in lower case",
					name, stmt.Table, name)
			}
			add("? ?", clause.Column{Name: name}, m.FullDataTypeOf(field))
		}
	}
	if primary := stmt.Schema.PrimaryFieldDBNames; len(primary) > 0 {
		add("PRIMARY KEY ?", columnList(primary))
	}
	for _, c := range m.constraints(stmt.Schema) {
		part, of := build(c)
		add(part, of...)
	}
	query := "CREATE TABLE ? (" + strings.Join(parts, ",") + ")"
	if options, ok := m.DB.Get("gorm:table_options"); ok {
		query += " " + fmt.Sprint(options)
	}
	if err := m.fresh().Exec(query, vars...).Error; err != nil {
		return err
	}
	for _, index := range stmt.Schema.ParseIndexes() {
		if err := m.createIndex(stmt, index); err != nil {
			return err
		}
	}
	return nil
}

// fresh returns a handle without the conditions of another statement.
func (m tables) fresh() *gorm.DB { return m.DB.Session(&gorm.Session{}) }

func columnList(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = clause.Column{Name: name}
	}
	return list
}

// constraints returns those of a table: foreign keys, unique columns, checks.
func (m tables) constraints(s *schema.Schema) (all []schema.ConstraintInterface) {
	if !m.DB.DisableForeignKeyConstraintWhenMigrating && !m.DB.IgnoreRelationshipsWhenMigrating {
		for _, name := range sortedKeys(s.Relationships.Relations) {
			rel := s.Relationships.Relations[name]
			if rel.Field.IgnoreMigration {
				continue
			}
			if c := rel.ParseConstraint(); c != nil && c.Schema == s {
				all = append(all, c)
			}
		}
	}
	unique, checks := s.ParseUniqueConstraints(), s.ParseCheckConstraints()
	for _, name := range sortedKeys(unique) {
		c := unique[name]
		all = append(all, &c)
	}
	for _, name := range sortedKeys(checks) {
		c := checks[name]
		all = append(all, &c)
	}
	return all
}

// build returns the text of a constraint. A foreign key has no ON UPDATE here, and ON
// DELETE only if it does something: to refuse is what it does without.
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
func (m tables) DropTable(values ...any) error {
	for _, value := range slices.Backward(m.ReorderModels(values, false)) {
		if !m.HasTable(value) {
			continue // IF EXISTS came with 23ai
		}
		err := m.RunWithValue(value, func(stmt *gorm.Statement) error {
			return m.fresh().Exec("DROP TABLE ? CASCADE CONSTRAINTS", m.CurrentTable(stmt)).Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// HasConstraint implements gorm.Migrator.
func (m tables) HasConstraint(value any, name string) bool {
	const query = "all_constraints WHERE " + ofOwner + " AND table_name = ? AND constraint_name = ?"
	return m.has(value, query, func(stmt *gorm.Statement) (string, []any) {
		c, table := m.GuessConstraintInterfaceAndTable(stmt, name)
		if c != nil {
			name = c.GetName()
		}
		return table, []any{raised(name)}
	})
}

// CreateConstraint implements gorm.Migrator.
func (m tables) CreateConstraint(value any, name string) error {
	return m.RunWithValue(value, func(stmt *gorm.Statement) error {
		c, table := m.GuessConstraintInterfaceAndTable(stmt, name)
		if c == nil {
			return nil
		}
		text, vars := build(c)
		return m.fresh().Exec("ALTER TABLE ? ADD "+text, append([]any{clause.Table{Name: table}}, vars...)...).Error
	})
}
