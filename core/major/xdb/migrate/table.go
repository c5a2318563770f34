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

	// maxErrorText limits the error text in the table, in bytes, because some databases
	// limit columns in bytes.
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
	ErrorText  string    `gorm:"size:1000"` // maxErrorText
	StartedAt  time.Time `gorm:"not null"`
	FinishedAt *time.Time

	stored bool // the row exists in the table
}

// version returns the version of a migration by its name.
func version(name string) uint64 {
	v, _ := sqlfile.VersionOf(name) // every stored name is valid
	return v
}

// TableName implements schema.TablerWithNamer: it adds the table prefix.
func (record) TableName(namer schema.Namer) string { return namer.TableName(migrationsTable) }

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

// readRecords returns all rows by name, or nil if the table is missing.
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

// readOrCreateRecords is readRecords, but creates the table if it is missing.
func readOrCreateRecords(db *gorm.DB) (map[string]record, error) {
	known, err := readRecords(db)
	if err == nil && known == nil {
		err = db.Migrator().CreateTable(&record{})
	}
	return known, err
}

func saveRecord(db *gorm.DB, r *record) error {
	if r.stored {
		return db.Save(r).Error
	}
	err := db.Create(r).Error
	r.stored = err == nil
	return err
}

// errorText truncates the text of an error to the size of its column.
func errorText(err error) string {
	text := strings.ToValidUTF8(err.Error(), "?")
	if len(text) <= maxErrorText {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorText-len("…")], "") + "…"
}
