package systable_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/major/xdb/systable"
)

func TestClock(t *testing.T) {
	t.Run("fails for a database opened without xdb", func(t *testing.T) {
		db, err := gorm.Open(tests.DummyDialector{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		clock, err := systable.Clock(db)
		if clock != nil || !errors.Is(err, systable.ErrUnsupported) ||
			!strings.Contains(err.Error(), "dummy") {
			t.Errorf("Clock = %v, %v; want ErrUnsupported that names the dialect", clock, err)
		}
	})
}
