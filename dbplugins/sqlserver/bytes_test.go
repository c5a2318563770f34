package sqlserver_test

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/major/xdb"
)

// blob has bytes of several types.
type blob struct {
	ID    int64 `gorm:"autoIncrement:false"`
	Plain []byte
	Maybe *[]byte
	Null  sql.Null[[]byte] `gorm:"type:varbinary(100)"`
	Text  *string
}

func TestDialector_NullBytes(t *testing.T) {
	// The server does not convert a string to bytes, not even NULL (error 257).
	t.Run("uses the column type of the entity", func(t *testing.T) {
		const null, text = "varbinary(max) <nil>", "null <nil>"
		byID := clause.OnConflict{
			Columns:   []clause.Column{{Name: "id"}},
			DoUpdates: clause.Assignments(map[string]any{"plain": nil}),
		}
		data := []byte{1}
		s := startDouble(t, nil)
		db, _ := open(t, s, xdb.Options{SkipDefaultTransaction: true})
		for _, tc := range []struct {
			name string
			do   func(tx *gorm.DB) *gorm.DB
			want []string
		}{
			{"a map", func(tx *gorm.DB) *gorm.DB {
				return tx.Updates(map[string]any{"plain": nil, "text": nil})
			}, []string{null, text}},
			{
				"a field", func(tx *gorm.DB) *gorm.DB { return tx.Update("Maybe", nil) },
				[]string{null},
			},
			{"a pointer", func(tx *gorm.DB) *gorm.DB {
				return tx.UpdateColumn("plain", (*[]byte)(nil))
			}, []string{null}},
			{
				"a valuer", func(tx *gorm.DB) *gorm.DB {
					return tx.Update("null", sql.Null[[]byte]{})
				},
				[]string{null},
			},
			{"a pointer to a valuer", func(tx *gorm.DB) *gorm.DB {
				return tx.Update("null", (*sql.Null[[]byte])(nil))
			}, []string{null}},
			{
				"a valuer with bytes", func(tx *gorm.DB) *gorm.DB {
					return tx.Update("null", sql.Null[[]byte]{V: data, Valid: true})
				},
				[]string{"varbinary(1) [1]"},
			},
			{
				"a pointer to bytes",
				func(tx *gorm.DB) *gorm.DB { return tx.Update("maybe", &data) },
				[]string{"varbinary(1) [1]"},
			},
			{"an expression", func(tx *gorm.DB) *gorm.DB {
				return tx.Update("plain", gorm.Expr("CAST(? AS varbinary)", "x"))
			}, []string{"nvarchar(1) x"}},
			{
				"an entity", func(tx *gorm.DB) *gorm.DB { return tx.Create(&blob{}) },
				[]string{"bigint 0", null, null, null, text},
			},
			{"a new map", func(tx *gorm.DB) *gorm.DB {
				return tx.Create(map[string]any{"plain": nil, "text": nil})
			}, []string{null, text}},
			{
				"new maps", func(tx *gorm.DB) *gorm.DB {
					return tx.Create([]map[string]any{{"plain": data}, {"maybe": data}})
				},
				[]string{null, "varbinary(1) [1]", "varbinary(1) [1]", null},
			},
			{
				"an upsert", func(tx *gorm.DB) *gorm.DB {
					return tx.Clauses(byID).Create(&blob{Plain: data})
				},
				[]string{"bigint 0", "varbinary(1) [1]", null, null, text, null},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s.Reset()
				if err := tc.do(db.Model(&blob{}).Where("1 = 1")).Error; err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, p := range s.Requests()[0].Params {
					got = append(got, fmt.Sprintf("%s %v", p.Type, p.Value))
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("parameters = %q, want %q", got, tc.want)
				}
			})
		}
	})

	// Without an entity, the type of the column is unknown.
	t.Run("has no type in raw SQL", func(t *testing.T) {
		s := startDouble(t, nil)
		db, _ := open(t, s, xdb.Options{SkipDefaultTransaction: true})
		s.Reset()
		if err := db.Table("blobs").Where("1 = 1").Updates(
			map[string]any{"plain": nil}).Error; err != nil {
			t.Fatal(err)
		}
		if got := s.Requests()[0].Params; len(got) != 1 ||
			got[0] != (tdsParam{Name: "@p1", Type: "null"}) {
			t.Errorf("parameters = %v, want one untyped parameter", got)
		}
	})
}
