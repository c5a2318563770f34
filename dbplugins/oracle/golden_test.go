package oracle_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Entities of the conformance suite, and entities for statements that the suite does not
// cover.
type (
	author struct {
		xmodels.BaseEntity
		Name  string  `gorm:"size:64;not null;uniqueIndex"`
		Email *string `gorm:"size:64"`
		Age   int     `gorm:"not null;check:age >= 0"`
		Books []book  `gorm:"foreignKey:AuthorID;constraint:OnDelete:RESTRICT"`
	}

	book struct {
		xmodels.BaseEntity
		Title    string                 `gorm:"size:100;not null"`
		AuthorID xsnowflake.SnowflakeID `gorm:"type:int;not null;index"`
		Author   *author                `gorm:"foreignKey:AuthorID"`
	}

	note struct {
		xmodels.BaseEntityWithSoftDelete
		Text string `gorm:"size:200"`
	}

	account struct {
		xmodels.BaseEntity
		Balance int64 `gorm:"not null"`
		Version xmodels.Version
	}

	event struct {
		xmodels.BaseEntity
		Kind string    `gorm:"size:20;not null;index"`
		At   time.Time `gorm:"not null"`
		Body *string   `gorm:"size:2097152"`
		Data []byte
	}

	// tag has fields that the database sets.
	tag struct {
		ID     uint
		Level  string `gorm:"unique"` // a reserved word
		Active bool   `gorm:"default:true"`
		Rank   int16  `gorm:"default:7"`
		Label  string `gorm:"size:40;default:lower('X')"`
		Price  string `gorm:"type:decimal(20,4)"`
		Ratio  float64
		Hash   []byte  `gorm:"size:16"`
		Owners []owner `gorm:"many2many:tag_owners"`
	}

	owner struct {
		ID   uint
		Name string `gorm:"type:varchar(40)"`
		Bio  string `gorm:"type:text"`
	}

	// sample has the types that gorm maps; preset has defaults.
	sample struct {
		xmodels.BaseEntity
		Active  bool    `gorm:"not null"`
		Ratio   float64 `gorm:"not null"`
		Tiny    int8    `gorm:"not null"`
		Middle  int32   `gorm:"not null"`
		Natural uint64  `gorm:"not null"`
		Word    uint32  `gorm:"not null"`
		MaybeAt *time.Time
		MaybeOn *bool
		Data    []byte
	}

	preset struct {
		xmodels.BaseEntity
		Name    string `gorm:"size:20;not null;default:nobody"`
		Score   int    `gorm:"not null;default:7"`
		Enabled *bool  `gorm:"not null;default:true"`
	}

	noteAfter struct {
		xmodels.BaseEntityWithSoftDelete
		Text   string  `gorm:"size:400;not null"`
		Colour *string `gorm:"size:20;index"`
	}

	// document is stored as JSON.
	document struct {
		xmodels.BaseEntity
		Tags []string       `gorm:"serializer:json"`
		More map[string]any `gorm:"serializer:json;size:99"`
	}

	bookAfter struct {
		xmodels.BaseEntity
		Title    string                 `gorm:"size:100"`
		AuthorID xsnowflake.SnowflakeID `gorm:"type:int"`
	}
)

func (noteAfter) TableName() string { return "app_notes" }

func (bookAfter) TableName() string { return "app_books" }

func entities() []any {
	return []any{
		&author{}, &book{}, &note{}, &account{}, &event{}, &tag{}, &owner{}, &document{},
		&sample{}, &preset{},
	}
}

// quietContext returns a context with a silent logger.
func quietContext(tb testing.TB) context.Context {
	tb.Helper()
	engine, err := xlog.New(xlog.Config{Level: slog.LevelError + 4, Writer: &strings.Builder{}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = engine.Close() })
	return xlog.NewContext(context.Background(), engine)
}

// testContext also contains an ID node.
func testContext(tb testing.TB) context.Context {
	tb.Helper()
	node, err := xsnowflake.NewNode()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = node.Close() })
	return context.WithValue(quietContext(tb), xctx.SnowflakeNodeKey, node)
}

func TestStatements(t *testing.T) {
	for _, file := range []struct {
		name   string
		steps  []step
		script []response
	}{
		{name: "create", steps: creates()},
		{name: "upsert", steps: upserts()},
		{name: "query", steps: queries()},
		{name: "preload", steps: []step{preloading()}, script: []response{{
			pattern: `FROM "APP_AUTHORS"`,
			columns: []string{"ID", "NAME"}, types: []string{"NUMBER:0", "NCHAR"},
			rows: [][]sqlValue{{"7", "x"}, {"8", "y"}},
		}}},
		{name: "suite", steps: suites()},
		{name: "keyset", steps: []step{keyset()}, script: []response{{
			pattern: `FROM "APP_EVENTS"`, columns: []string{"ID", "AT", "KIND"},
			types: []string{"NUMBER:0", "TimeStampTZ_DTY", "NCHAR"},
			rows:  [][]sqlValue{{"7", at, "x"}, {"8", at, "y"}},
		}}},
		{name: "lock", steps: locks()},
		{name: "change", steps: changes()},
		{name: "schema", steps: schemas()},
	} {
		t.Run(file.name, func(t *testing.T) {
			d := &double{script: file.script}
			db := openDouble(t, d, nil)
			var b strings.Builder
			for _, s := range file.steps {
				d.statements()
				if err := s.do(db); err != nil {
					t.Errorf("%s: %v", s.name, err)
				}
				fmt.Fprintf(&b, "== %s\n", s.name)
				for _, line := range d.statements() {
					if s.name == "migrate again" && !strings.HasPrefix(line, "SELECT") {
						t.Errorf("the second migration changes the schema: %s", line)
					}
					checkGrammar(t, s.name, line)
					fmt.Fprintf(&b, "%s\n", shorten(line))
				}
				b.WriteByte('\n')
			}
			compare(t, file.name, b.String())
		})
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotParts, wantParts := strings.Split(got, "\n== "), strings.Split(string(want), "\n== ")
	for i := range max(len(gotParts), len(wantParts)) {
		if g, w := part(gotParts, i), part(wantParts, i); g != w {
			t.Errorf("got\n%s\nwant\n%s", g, w)
		}
	}
}

func part(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return "(nothing)"
}

// Long lists, and savepoint names that contain an address, are shortened in the files.
var (
	longBinds  = regexp.MustCompile(`:\d+(,:\d+){9,}`)
	longKinds  = regexp.MustCompile(`NUMBER(, NUMBER){20,}`)
	savepoints = regexp.MustCompile(`\bsp\w+`)
)

func shorten(line string) string {
	line = longBinds.ReplaceAllStringFunc(line, func(s string) string {
		binds := strings.Split(s, ",")
		return binds[0] + "..." + binds[len(binds)-1]
	})
	line = longKinds.ReplaceAllStringFunc(line, func(s string) string {
		return fmt.Sprintf("%d × NUMBER", strings.Count(s, "NUMBER"))
	})
	return savepoints.ReplaceAllString(line, "sp1")
}
