package sqlite_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestDriver_ErrorKind_Malformed(t *testing.T) {
	db := open(t, file(t))
	const table = "CREATE TABLE strict_ages (id INTEGER PRIMARY KEY, age INTEGER) STRICT"
	if err := db.Exec(table).Error; err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		column string
	}{
		{name: "column of a STRICT table", column: "age"},
		{name: "key", column: "id"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := db.Exec("INSERT INTO strict_ages ("+tc.column+") VALUES (?)", "twelve").Error
			if driver.KindOf(err) != driver.Malformed ||
				xerror.From(err).GetErrorCode() != xerror.DataInvalid {
				t.Errorf("error = %v (%T), want kind Malformed", err, err)
			}
			if strings.Contains(err.Error(), "twelve") {
				t.Errorf("error = %q, want it without the value", err)
			}
		})
	}
}
