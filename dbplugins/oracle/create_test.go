package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sijms/go-ora/v2/network"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// notes returns n rows.
func notes(n int) []*note {
	rows := make([]*note, n)
	for i := range rows {
		rows[i] = &note{Text: fmt.Sprint(i)}
	}
	return rows
}

// wide returns rows of 150 columns.
func wide(n int) []map[string]any {
	rows := make([]map[string]any, n)
	for i := range rows {
		rows[i] = map[string]any{}
		for column := range 150 {
			rows[i][fmt.Sprintf("c%d", column)] = column
		}
	}
	return rows
}

// outline returns the number of rows of each statement, and the transaction statements.
func outline(lines []string) []string {
	shape := make([]string, len(lines))
	for i, line := range lines {
		shape[i] = line
		if n := strings.Count(line, "INSERT INTO"); n > 0 {
			shape[i] = fmt.Sprint(n)
		}
	}
	return shape
}

func TestCreate_Blocks(t *testing.T) {
	t.Run("are in one transaction", func(t *testing.T) {
		plain := &gorm.Session{SkipDefaultTransaction: true}
		for _, tc := range []struct {
			name string
			do   func(db *gorm.DB) *gorm.DB
			rows int64
			want []string
		}{
			{
				name: "rows", do: func(db *gorm.DB) *gorm.DB { return db.Create(notes(250)) },
				rows: 250, want: []string{"<begin>", "100", "100", "50", "<commit>"},
			},
			{
				name: "SkipDefaultTransaction",
				do:   func(db *gorm.DB) *gorm.DB { return db.Session(plain).Create(notes(250)) },
				rows: 250, want: []string{"100", "100", "50"},
			},
			{
				name: "full block",
				do:   func(db *gorm.DB) *gorm.DB { return db.Session(plain).Create(notes(100)) },
				rows: 100, want: []string{"100"},
			},
			{
				name: "batches longer than a block",
				do:   func(db *gorm.DB) *gorm.DB { return db.CreateInBatches(notes(150), 1000) },
				rows: 150, want: []string{"<begin>", "100", "50", "<commit>"},
			},
			{
				name: "many binds",
				do:   func(db *gorm.DB) *gorm.DB { return db.Table("app_wide").Create(wide(100)) },
				rows: 100, want: []string{"<begin>", "66", "34", "<commit>"},
			},
			{
				name: "counted rows",
				do: func(db *gorm.DB) *gorm.DB {
					return db.Clauses(clause.OnConflict{DoNothing: true}).Create(notes(150))
				},
				rows: 2, want: []string{"<begin>", "100", "50", "<commit>"},
			},
			{
				name: "prepared",
				do: func(db *gorm.DB) *gorm.DB {
					return db.Session(&gorm.Session{
						PrepareStmt: true, SkipDefaultTransaction: true,
					}).Create(notes(150))
				},
				rows: 150, want: []string{"100", "50"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				d := &double{}
				db := openDouble(t, d, nil)
				result := tc.do(db)
				lines := d.statements()
				if result.Error != nil || result.RowsAffected != tc.rows {
					t.Errorf("rows = %d (%v), want %d", result.RowsAffected, result.Error, tc.rows)
				}
				if got := outline(lines); !slices.Equal(got, tc.want) {
					t.Errorf("statements = %q, want %q", got, tc.want)
				}
				for _, line := range lines {
					checkGrammar(t, tc.name, line)
				}
			})
		}
	})

	t.Run("are rolled back together", func(t *testing.T) {
		d := &double{script: []response{{
			pattern: `^BEGIN\n(INSERT[^\n]*\n){50}END`,
			err:     &network.OracleError{ErrCode: 1},
		}}}
		db := openDouble(t, d, nil)
		result := db.Create(notes(150))
		want := []string{"<begin>", "100", "50", "<rollback>"}
		if got := outline(d.statements()); result.Error == nil || result.RowsAffected != 0 ||
			!slices.Equal(got, want) {
			t.Errorf("rows = %d (%v) with %q, want an error and %q",
				result.RowsAffected, result.Error, got, want)
		}
		d.script = []response{{pattern: "^<commit>$", err: &network.OracleError{ErrCode: 2091}}}
		if result := db.Create(notes(150)); result.Error == nil {
			t.Errorf("rows = %d (%v) of a failed commit, want an error",
				result.RowsAffected, result.Error)
		}
		d.script = nil
		if err := db.Create(&note{}).Error; err != nil {
			t.Errorf("next statement = %v", err)
		}
	})

	t.Run("return generated values", func(t *testing.T) {
		rows := make([]*tag, 150)
		for i := range rows {
			rows[i] = &tag{Level: fmt.Sprint(i)}
		}
		if err := openDouble(t, &double{}, nil).Create(rows).Error; err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if row.ID != 4711 || row.Label != "filled in" {
				t.Fatalf("row %d = %+v, want the generated values", i, row)
			}
		}
	})
}
