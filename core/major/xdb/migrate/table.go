package migrate

import (
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

const (
	migrationsTable = "plinth_migrations"

	// maxErrorText limits the text of an error in the table, in bytes, which some
	// databases count in a column.
	maxErrorText = 1000
)

// record is a row of the table of migrations.
type record struct {
	Name       string    `gorm:"primaryKey;size:128"`
	SHA256     string    `gorm:"column:sha256;size:64;not null"`
	State      State     `gorm:"size:16;not null"`
	Statements int       `gorm:"not null"`
	Done       int       `gorm:"not null"` // applied statements that are never rolled back
	DoneSHA256 string    `gorm:"column:done_sha256;size:64"`
	ErrorText  string    `gorm:"size:1000"` // of maxErrorText
	StartedAt  time.Time `gorm:"not null"`
	FinishedAt *time.Time

	stored bool // the table has it
}

// version returns the number that the name of a migration begins with.
func version(name string) uint64 {
	v, _ := sqlfile.VersionOf(name) // the name was that of a file
	return v
}

// TableName implements schema.TablerWithNamer: it adds the table prefix.
func (record) TableName(namer schema.Namer) string { return namer.TableName(migrationsTable) }

// describe returns the row as a migration in a state.
func (r record) describe(state State) Migration {
	m := Migration{
		Name: r.Name, SHA256: r.SHA256, State: state, Statements: r.Statements, Done: r.Done,
		Error: r.ErrorText, StartedAt: r.StartedAt.UTC(),
	}
	if r.FinishedAt != nil {
		m.FinishedAt = r.FinishedAt.UTC()
	}
	return m
}

// readRecords returns every row of the table by its name, or nil without a table.
func readRecords(db *gorm.DB) (map[string]record, error) {
	if !db.Migrator().HasTable(&record{}) {
		return nil, nil
	}
	var rows []record
	if err := db.Find(&rows).Error; err != nil {
		return nil, err
	}
	known := make(map[string]record, len(rows))
	for _, r := range rows {
		r.stored = true
		known[r.Name] = r
	}
	return known, nil
}

// readOrCreateRecords is readRecords, and creates the table if it is missing.
func readOrCreateRecords(db *gorm.DB) (map[string]record, error) {
	known, err := readRecords(db)
	if err == nil && known == nil {
		err = db.Migrator().CreateTable(&record{})
	}
	return known, err
}

// saveRecord writes a row.
func saveRecord(db *gorm.DB, r *record) error {
	if r.stored {
		return db.Save(r).Error
	}
	err := db.Create(r).Error
	r.stored = err == nil
	return err
}

// errorText shortens an error to fit its column.
func errorText(err error) string {
	text := strings.ToValidUTF8(err.Error(), "?")
	if len(text) <= maxErrorText {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorText-len("…")], "") + "…"
}
