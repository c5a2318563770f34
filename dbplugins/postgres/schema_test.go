package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// everything has a column of each type.
type everything struct {
	xmodels.BaseEntityWithSoftDelete
	Bool    bool  `gorm:"not null;default:true"`
	Small   int8  `gorm:"not null;default:-1"`
	Short   int16 `gorm:"default:7"`
	Int     int32 `gorm:"index"`
	Wide    int   `gorm:"not null;default:0"`
	Uint16  uint16
	Uint32  uint32
	Float   float32
	Double  float64   `gorm:"default:1.5"`
	Price   float64   `gorm:"precision:10;scale:2;default:0"`
	Exact   string    `gorm:"type:decimal(20,4);not null;default:0"`
	Numeric string    `gorm:"type:numeric"`
	Sized   string    `gorm:"size:64;not null;default:''"`
	Free    string    `gorm:"default:it's"`
	Char    string    `gorm:"type:char(2)"`
	Varying string    `gorm:"type:character varying(20)"`
	Text    *string   `gorm:"type:text;comment:what it says"`
	At      time.Time `gorm:"not null;default:now()"`
	Milli   time.Time `gorm:"precision:3"`
	Stamp   time.Time `gorm:"type:timestamp"`
	Day     time.Time `gorm:"type:date;default:CURRENT_DATE"`
	Bytes   []byte
	JSON    string `gorm:"type:jsonb;not null;default:'{}'"`
	UUID    string `gorm:"type:uuid;default:gen_random_uuid()"`
	Tags    string `gorm:"type:text[];default:'{}'"`
	Unique  string `gorm:"size:20;unique"`
	Pair    string `gorm:"size:20;uniqueIndex:one_pair"`
	Other   string `gorm:"size:20;uniqueIndex:one_pair"`
	Lower   string `gorm:"size:20;index:,expression:lower(lower)"`
	Serial  int64  `gorm:"autoIncrement"`
	Checked int    `gorm:"check:checked > 0"`
	State   string `gorm:"type:varchar(10);default:'new';not null"`

	NullText  *string    `gorm:"size:20;default:null"`
	NullChar  *string    `gorm:"type:char(2);default:NULL"`
	NullExact *string    `gorm:"type:numeric(8,2);default:null"`
	NullTime  *time.Time `gorm:"precision:3;default:null"`
	Dec       string     `gorm:"type:dec(8,2)"`
	National  string     `gorm:"type:national character varying(5)"`
	Nchar     string     `gorm:"type:nchar(3)"`
	Age       int        `gorm:"comment:the age, it's 'old'"`
	Quoted    int        `gorm:"comment:'all of it'"`
	Double2   int        `gorm:"comment:say \\\"old\\\""`
}

// TableName implements schema.Tabler.
func (everything) TableName() string { return "plinth_test_everything" }

// changes returns the statements of a log that change the schema.
func changes(log string) (all []string) {
	for line := range strings.Lines(log) {
		for _, change := range []string{"ALTER ", "CREATE ", "DROP ", "COMMENT "} {
			if strings.Contains(line, `"sql":"`+change) {
				all = append(all, line)
			}
		}
	}
	return all
}

func TestMigrator_MigrateColumn(t *testing.T) {
	t.Run("does not alter unchanged columns", func(t *testing.T) {
		_, config := find(t)
		db, log, err := openLogged(t, xdb.Options{Parts: config, AutoMigrate: []any{&everything{}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
		})
		dropAfter(t, db, &everything{})
		before := log.String()
		if err := db.AutoMigrate(&everything{}); err != nil {
			t.Fatal(err)
		}
		if all := changes(strings.TrimPrefix(log.String(), before)); len(all) > 0 {
			t.Errorf("the second migration changed the schema:\n%s", all)
		}
	})

	t.Run("alters changed types", func(t *testing.T) {
		_, config := find(t)
		db := open(t, xdb.Options{Parts: config, AutoMigrate: []any{&narrow{}}})
		dropAfter(t, db, &narrow{})
		if err := db.AutoMigrate(&broad{}); err != nil {
			t.Fatal(err)
		}
		var got string
		err := db.Raw(`SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull, ', ' ORDER BY a.attnum)
		FROM pg_attribute a WHERE a.attrelid = 'plinth_test_types'::regclass AND a.attnum > 0`).Scan(&got).Error
		const want = "id bigint true, name character varying(128) true, code character(3) false, price numeric(12,4) false, " +
			"at timestamp(6) with time zone false, count bigint false, free text false, numbers numeric(6,1) false, note text false, null character varying(20) false"
		if err != nil || got != want {
			t.Errorf("columns = %s (%v), want %s", got, err, want)
		}
		var text string
		err = db.Raw("SELECT col_description('plinth_test_types'::regclass, 9)").Scan(&text).Error
		if err != nil || text != "it is 'new'" {
			t.Errorf("comment = %q (%v), want the new one", text, err)
		}
		if err := db.Exec("INSERT INTO plinth_test_types (id, name) VALUES (1, 'x')").Error; err != nil {
			t.Fatal(err)
		}
		if err := db.Raw("SELECT free FROM plinth_test_types").Scan(&text).Error; err != nil ||
			text != "that's" {
			t.Errorf("default = %q (%v), want that's", text, err)
		}
		var null bool
		err = db.Raw(`SELECT "null" IS NULL FROM plinth_test_types`).Scan(&null).Error
		if err != nil || !null {
			t.Errorf("default is null: %t (%v), want true", null, err)
		}
	})
}

// narrow and broad are versions of a table. Every column changes its type.
type (
	narrow struct {
		ID      int64     `gorm:"primaryKey;autoIncrement:false"`
		Name    string    `gorm:"size:64"`
		Code    string    `gorm:"type:char(2)"`
		Price   float64   `gorm:"precision:10;scale:2"`
		At      time.Time `gorm:"precision:3"`
		Count   int16
		Free    string `gorm:"default:it's"`
		Numbers string `gorm:"type:numeric(5)"`
		Note    string `gorm:"comment:it is 'old'"`
		Null    string `gorm:"size:20;default:x"`
	}

	broad struct {
		ID      int64     `gorm:"primaryKey;autoIncrement:false"`
		Name    string    `gorm:"size:128;not null"`
		Code    string    `gorm:"type:char(3)"`
		Price   float64   `gorm:"precision:12;scale:4"`
		At      time.Time `gorm:"precision:6"`
		Count   int64
		Free    string `gorm:"default:that's"`
		Numbers string `gorm:"type:numeric(6, 1)"`
		Note    string `gorm:"comment:it is 'new'"`
		Null    string `gorm:"size:20;default:null"`
	}
)

// TableName implements schema.Tabler.
func (narrow) TableName() string { return "plinth_test_types" }

// TableName implements schema.Tabler.
func (broad) TableName() string { return "plinth_test_types" }
