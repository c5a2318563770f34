package mysql_test

import (
	"io"
	"math"
	"testing"

	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/major/xdb"
)

// counter is a row with a unique name.
type counter struct {
	ID    int64  `gorm:"primaryKey;autoIncrement"`
	Name  string `gorm:"size:20;uniqueIndex"`
	Count uint64
}

func TestDialector_OnConflict(t *testing.T) {
	t.Run("DoNothing returns the key of the existing row", func(t *testing.T) {
		db := open(t, logContext(t, io.Discard),
			xdb.Options{Parts: serverConfig(t), AutoMigrate: []any{&counter{}}})
		first, second := counter{Name: "a", Count: 1}, counter{Name: "a", Count: 2}
		if err := db.Create(&first).Error; err != nil {
			t.Fatal(err)
		}
		if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&second).Error; err != nil {
			t.Fatal(err)
		}
		var stored counter
		if err := db.First(&stored).Error; err != nil {
			t.Fatal(err)
		}
		if second.ID != first.ID || stored.Count != 1 {
			t.Errorf("ID = %d, want %d; count = %d, want 1", second.ID, first.ID, stored.Count)
		}
	})
}

func TestDialector_Uint64(t *testing.T) {
	db := open(t, logContext(t, io.Discard),
		xdb.Options{Parts: serverConfig(t), AutoMigrate: []any{&counter{}}})
	if err := db.Create(&counter{Name: "largest", Count: math.MaxUint64}).Error; err != nil {
		t.Fatal(err)
	}
	var got counter
	if err := db.Where("count = ?", uint64(math.MaxUint64)).First(&got).Error; err != nil {
		t.Fatal(err)
	}
	if got.Count != math.MaxUint64 {
		t.Errorf("count = %d, want the largest uint64", got.Count)
	}
}
