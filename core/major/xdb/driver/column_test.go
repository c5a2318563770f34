package driver_test

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

type article struct {
	Key   int64  `gorm:"primaryKey;column:article_id"`
	Title string `gorm:"column:headline"`
}

func TestColumnName(t *testing.T) {
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	known := &gorm.Statement{DB: db}
	if err := known.Parse(&article{}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, column string
		stmt         *gorm.Statement
		want         string
	}{
		{name: "the column", column: "headline", stmt: known, want: "headline"},
		{name: "the field", column: "Title", stmt: known, want: "headline"},
		{name: "the primary key", column: clause.PrimaryKey, stmt: known, want: "article_id"},
		{name: "unknown column", column: "other", stmt: known, want: "other"},
		{name: "no entity", column: "Title", stmt: &gorm.Statement{DB: db}, want: "Title"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := driver.ColumnName(tc.stmt, tc.column); got != tc.want {
				t.Errorf("ColumnName = %q, want %q", got, tc.want)
			}
		})
	}
}
