package dbtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

var schemaCases = []testCase{
	{"Schema/second migration changes nothing", testMigrateTwice},
	{"Schema/migration keeps referencing rows", testMigrateParent},
	{"Schema/tables have the prefix", testPrefix},
	{"Schema/singular table names", testSingular},
	{"Schema/rejects a table with the other naming", testOtherNaming},
	{"Schema/rejects an associated table with the other naming", testOtherNamingOfAssociated},
	{"Schema/Prepare functions run in order after the migration", testPrepare},
	{"Schema/failed Prepare function closes the pool", testFailedPrepare},
}

// owned references an entity by an ID. The driver chooses the type of the column, as for
// generated entities.
type owned struct {
	ID      int64
	OwnerID xsnowflake.SnowflakeID `gorm:"not null;index"`
}

func testMigrateTwice(tb testing.TB, s *suite) {
	o := s.options(tb, append(entities(), &owned{})...)
	db := s.openWith(tb, o)
	a := author{Name: "kept"}
	check(tb, db.Create(&a).Error, "create")
	if n := s.log.count(`"sql":"CREATE TABLE`); n < len(o.AutoMigrate) {
		tb.Errorf("the first migration logged %d × CREATE TABLE, want %d", n, len(o.AutoMigrate))
	}
	const largest = xsnowflake.SnowflakeID(math.MaxInt64)
	check(tb, db.Create(&owned{ID: 1, OwnerID: largest}).Error, "create with the largest id")
	var stored owned
	check(tb, db.First(&stored, 1).Error, "read the largest id")
	if stored.OwnerID != largest {
		tb.Errorf("id = %d, want %d", stored.OwnerID, largest)
	}
	s.log.Reset()
	check(tb, db.AutoMigrate(o.AutoMigrate...), "migrate again")
	for _, change := range []string{
		"ALTER TABLE", "CREATE TABLE", "DROP TABLE", "CREATE INDEX", "CREATE UNIQUE INDEX",
	} {
		if n := s.log.count(`"sql":"` + change); n > 0 {
			tb.Errorf("the second migration ran %d × %s, want 0:\n%s", n, change, s.log)
		}
	}
	var got author
	check(tb, db.First(&got, a.ID).Error, "read")
	if got.Name != a.Name {
		tb.Errorf("name = %q after the second migration, want %q", got.Name, a.Name)
	}
}

// parentBefore and parentAfter are two versions of one table. child references it and is
// deleted with it.
type (
	parentBefore struct {
		xmodels.BaseEntity
		Name string `gorm:"size:20;not null"`
	}

	parentAfter struct {
		xmodels.BaseEntity
		Name  string  `gorm:"size:200"`
		Color *string `gorm:"size:20;index"`
	}

	child struct {
		xmodels.BaseEntity
		ParentID xsnowflake.SnowflakeID `gorm:"type:int;not null"`
		Parent   *parentBefore          `gorm:"constraint:OnDelete:CASCADE"`
	}
)

// TableName implements schema.TablerWithNamer. It returns the table of parentBefore.
func (parentAfter) TableName(namer schema.Namer) string { return namer.TableName("parentBefore") }

func testMigrateParent(tb testing.TB, s *suite) {
	o := s.options(tb, &parentBefore{}, &child{})
	db := s.openWith(tb, o)
	p := parentBefore{Name: "p"}
	check(tb, db.Create(&p).Error, "create parent")
	check(tb, db.Create(&child{ParentID: p.ID}).Error, "create child")

	if s.differs(DiffPrivate) {
		tb.Skip("a second pool would see another database")
	}
	o.AutoMigrate = []any{&parentAfter{}}
	o.MaxIdleConns = -1 // each statement uses a new session
	other, err := s.registry.Open(s.ctx, o)
	check(tb, err, "migrate the parent")
	check(tb, xdb.Close(other), "close")

	if got := count(tb, db, &child{}); got != 1 {
		tb.Errorf("children = %d after the migration of the referenced table, want 1", got)
	}
	if !db.Migrator().HasColumn(&parentAfter{}, "color") {
		tb.Error("the new column is missing")
	}
	if err := db.Create(&child{ParentID: 1}).Error; err == nil {
		tb.Error("foreign keys are not enforced after the migration")
	}
}

func testPrefix(tb testing.TB, s *suite) {
	db := s.open(tb, entities()...)
	tables, err := db.Migrator().GetTables()
	check(tb, err, "tables")
	found := 0
	for _, table := range tables {
		if strings.HasPrefix(strings.ToLower(table), s.prefix) {
			found++
		}
	}
	if want := len(entities()); found != want {
		tb.Errorf("tables with the prefix %q = %d of %v, want %d", s.prefix, found, tables, want)
	}
}

// The naming strategy determines the table of plain. The table of sheep has the same name
// in singular and plural.
type (
	plain struct {
		ID   int64
		Name string `gorm:"size:20"`
	}
	sheep struct{ ID int64 }
)

func testSingular(tb testing.TB, s *suite) {
	o := s.options(tb, &plain{}, &sheep{})
	o.SingularTables = true
	db := s.openWith(tb, o)
	check(tb, db.Create(&plain{ID: 1, Name: "one"}).Error, "create")
	if !db.Migrator().HasTable(s.prefix+"plain") || db.Migrator().HasTable(s.prefix+"plains") {
		tb.Error("the table name is not singular")
	}
	again, err := s.registry.Open(s.ctx, o)
	check(tb, err, "open again")
	check(tb, xdb.Close(again), "close")
}

func testOtherNaming(tb testing.TB, s *suite) {
	if s.differs(DiffPrivate) {
		return // each pool has a new, empty database
	}
	o := s.options(tb, &plain{}, &sheep{})
	for _, singular := range []bool{false, true} {
		o.SingularTables = singular
		db := s.openWith(tb, o)
		have, want := s.prefix+"plains", s.prefix+"plain"
		if singular {
			have, want = want, have
		}
		o.SingularTables = !singular
		other, err := s.registry.Open(s.ctx, o)
		if err == nil {
			check(tb, xdb.Close(other), "close")
		}
		for _, text := range []string{
			"the table " + want + " of the model plain is missing",
			"the table " + have + " exists",
			"DATABASE_SINGULAR_TABLES=" + strconv.FormatBool(singular),
		} {
			if err == nil || !strings.Contains(err.Error(), text) {
				tb.Errorf("Open with the other naming = %v, want %q", err, text)
			}
		}
		if db.Migrator().HasTable(want) {
			tb.Errorf("the migration created %s next to %s", want, have)
		}
		check(tb, db.Migrator().DropTable(&plain{}, &sheep{}), "drop the tables")
	}
}

// badge and crate have fixed table names. Their migration also creates the table of plain
// and the join table of crate.
type (
	badge struct {
		ID      int64
		PlainID int64
		Plain   *plain
	}
	crate struct {
		ID     int64
		Plains []plain `gorm:"many2many:CrateItem"`
	}
)

// TableName implements schema.TablerWithNamer.
func (badge) TableName(namer schema.Namer) string { return namer.TableName("badge") }

// TableName implements schema.TablerWithNamer.
func (crate) TableName(namer schema.Namer) string { return namer.TableName("crate") }

func testOtherNamingOfAssociated(tb testing.TB, s *suite) {
	if s.differs(DiffPrivate) {
		return // each pool has a new, empty database
	}
	o := s.options(tb, &crate{})
	o.SingularTables = true
	db := s.openWith(tb, o)
	o.SingularTables = false
	associated := "the table " + s.prefix + "plains of the model plain is missing, " +
		"and the table " + s.prefix + "plain exists"
	join := "the table " + s.prefix + "crate_items of the association CrateItem is missing, " +
		"and the table " + s.prefix + "crate_item exists"
	for _, tc := range []struct {
		model any
		want  []string
	}{
		{&badge{}, []string{associated}},
		{&crate{}, []string{associated, join, "many2many:crate_items"}},
	} {
		o.AutoMigrate = []any{tc.model}
		other, err := s.registry.Open(s.ctx, o)
		if err == nil {
			check(tb, xdb.Close(other), "close")
		}
		for _, text := range tc.want {
			if err == nil || !strings.Contains(err.Error(), text) {
				tb.Errorf("Open with the other naming and %T = %v, want %q",
					tc.model, err, text)
			}
		}
	}
	for _, table := range []string{"plains", "crate_items", "badges", "crates"} {
		if db.Migrator().HasTable(s.prefix + table) {
			tb.Errorf("the rejected migration created %s", table)
		}
	}
}

func testPrepare(tb testing.TB, s *suite) {
	var order []string
	o := s.options(tb, &note{})
	for _, name := range []string{"first", "second"} {
		o.Prepare = append(o.Prepare, func(_ context.Context, db *gorm.DB) error {
			order = append(order, name)
			return db.Create(&note{Text: name}).Error
		})
	}
	db := s.openWith(tb, o)
	if want := []string{"first", "second"}; !slices.Equal(order, want) {
		tb.Errorf("order = %v, want %v", order, want)
	}
	if got := count(tb, db, &note{}); got != 2 {
		tb.Errorf("rows = %d, want 2", got)
	}
}

func testFailedPrepare(tb testing.TB, s *suite) {
	var pool *gorm.DB
	o := s.options(tb, &note{})
	o.Prepare = []xdb.Prepare{func(_ context.Context, db *gorm.DB) error {
		pool = db
		return errors.Join(errBoom, db.Migrator().DropTable(&note{}))
	}}
	if _, err := s.registry.Open(s.ctx, o); !errors.Is(err, errBoom) {
		tb.Errorf("Open = %v, want the error of the Prepare function", err)
	}
	if err := xdb.CheckHealth(s.ctx, pool); err == nil {
		tb.Error("the pool is still open")
	}
}
