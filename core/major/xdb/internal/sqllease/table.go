package sqllease

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/systable"
)

const table = "plinth_leases"

// tableRow is a row of the lease table: one slot of one name. Times are microseconds
// since 1970 by the clock of the database.
type tableRow struct {
	ID      string `gorm:"column:id;primaryKey;size:64;not null"` // nameID(Name)
	Slot    int64  `gorm:"column:slot;primaryKey;autoIncrement:false;not null"`
	Name    string `gorm:"column:name;size:200;not null"`  // for display
	Slots   int64  `gorm:"column:slots;not null"`          // number of slots; 0 if unknown
	Holder  string `gorm:"column:holder;size:80;not null"` // holderText, or released
	Token   int64  `gorm:"column:token;not null"`
	Mark    int64  `gorm:"column:mark;not null"`
	SinceUS int64  `gorm:"column:since_us;not null"` // creation time of the row
	UntilUS int64  `gorm:"column:until_us;not null"`
}

// TableName implements schema.TablerWithNamer: it adds the table prefix.
func (tableRow) TableName(namer schema.Namer) string { return namer.TableName(table) }

// statements are the lease statements with the names of one database. The statements
// themselves compare and compute the times; values read before only detect whether a row
// has changed.
type statements struct {
	table                                 string // for display
	read, acquire, insert, renew, release string
	expired                               string // condition of sweep
	sweep                                 string
}

func newStatements(db *gorm.DB, clock driver.Clock) statements {
	stmt := &gorm.Statement{DB: db}
	_ = stmt.Parse(&tableRow{}) // cannot fail
	now := clock.NowMicros()
	names := []string{
		"{now}", now, "{dual}", clock.Dual(), "{table}", stmt.Quote(stmt.Schema.Table),
	}
	for _, field := range stmt.Schema.DBNames {
		names = append(names, "{"+field+"}", stmt.Quote(field))
	}
	expand := strings.NewReplacer(names...).Replace
	s := statements{table: stmt.Schema.Table} // stmt.Table lacks the schema of a prefix
	// The left join returns the time even if no row matches.
	s.read = expand("SELECT c.now_us, l.{slot}, l.{slots}, l.{holder}, l.{token}, l.{mark}, " +
		"l.{since_us}, l.{until_us} FROM (SELECT {now} AS now_us{dual}) c " +
		"LEFT JOIN {table} l ON l.{id} = ? AND l.{slot} >= ? AND l.{slot} < ?")
	s.acquire = expand("UPDATE {table} SET {slots} = ?, {holder} = ?, {token} = ?, {mark} = ?, " +
		"{until_us} = {now} + ? " +
		"WHERE {id} = ? AND {slot} = ? AND {token} = ? AND {mark} = ? AND {until_us} <= {now}")
	s.insert = expand("INSERT INTO {table} ({id}, {slot}, {name}, {slots}, {holder}, {token}, " +
		"{mark}, {since_us}, {until_us}) VALUES (?, ?, ?, ?, ?, ?, ?, {now}, {now} + ?)")
	s.renew = expand("UPDATE {table} SET {until_us} = {now} + ?, " +
		"{mark} = CASE WHEN {mark} < ? THEN ? ELSE {mark} END " +
		"WHERE {id} = ? AND {slot} = ? AND {holder} = ?")
	s.release = expand("UPDATE {table} SET {holder} = ?, {until_us} = {now}, {mark} = ? " +
		"WHERE {id} = ? AND {slot} = ? AND {holder} = ?")
	s.expired = expand("{slots} = 1 AND {slot} = 0 AND {until_us} < {now} - ?")
	s.sweep = expand("DELETE FROM {table} WHERE {id} IN ? AND ") + s.expired
	return s
}

// nameID encodes a name as a key, because many databases compare "Job" and "job" as
// equal.
func nameID(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(name))) }

// holderText encodes a holder for the same reason.
func holderText(holder string) string { return fmt.Sprintf("%x", holder) }

// Prepare implements driver.Preparer of package xlease.
func (b *Backend) Prepare(ctx context.Context) error {
	return b.retry(ctx, func() error { return nil })
}

// prepare creates the table if it is missing, and checks its columns. After a failure the
// next call repeats this.
func (b *Backend) prepare(ctx context.Context) error {
	if b.prepared.Load() {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Close cancels the preparation.
	defer context.AfterFunc(b.stopCtx, func() { cancel(xlease.ErrClosed) })()
	if err := b.setUp(ctx); err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, xlease.ErrClosed) {
			return fmt.Errorf("xdb: leases: %w", cause)
		}
		return err
	}
	b.prepared.Store(true)
	return nil
}

// setUp creates the table if it is missing, and checks its columns.
func (b *Backend) setUp(ctx context.Context) error {
	if err := systable.Create(ctx, b.session(ctx), &tableRow{}); err != nil {
		return fmt.Errorf("%w (accepted instead: %s=cache, or none with a %s for each replica)",
			b.failed(ctx, err), xenv.LeaseBackend, xenv.SnowflakeNodeID)
	}
	_, err := b.readSlots(ctx, "-", 0, 1)
	if b.Kind(err) == driver.Syntax { // the columns differ
		return fmt.Errorf("%w; the table %s must be created with %s",
			err, b.sql.table, systable.Definition(b.session(ctx), &tableRow{}))
	}
	return err
}
