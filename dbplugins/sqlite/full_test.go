package sqlite_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestDriver_ErrorKind_Full(t *testing.T) {
	db := open(t, file(t))
	// beyond 8 pages, writes fail with SQLITE_FULL
	for _, statement := range []string{"CREATE TABLE notes (text)", "PRAGMA max_page_count = 8"} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	err := db.Exec("INSERT INTO notes VALUES (?)", strings.Repeat("secret", 1<<14)).Error
	if driver.KindOf(err) != driver.Full || strings.Contains(err.Error(), "secret") {
		t.Fatalf("error = %v, want kind Full", err)
	}
	if got := xerror.From(err).GetErrorCode(); got != xerror.StorageError {
		t.Errorf("code = %v, want STORAGE_ERROR", got)
	}
	if err := db.Exec("INSERT INTO notes VALUES ('short')").Error; err != nil {
		t.Errorf("insert of a short row after the error: %v", err)
	}
}
