package mysql_test

import (
	"io"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// A full disk stops some servers, so the test fills a table with a size limit.
func TestDriver_ErrorKind_Full(t *testing.T) {
	db := open(t, logContext(t, io.Discard), xdb.Options{Parts: serverConfig(t), MaxOpenConns: 1})
	err := db.Connection(func(tx *gorm.DB) error {
		for _, statement := range []string{
			"SET max_heap_table_size = 16384",
			"CREATE TEMPORARY TABLE small (text CHAR(200)) ENGINE = MEMORY",
			"INSERT INTO small VALUES ('x')",
		} {
			if err := tx.Exec(statement).Error; err != nil {
				return err
			}
		}
		for range 12 { // each statement doubles the rows, up to 800 KB
			if err := tx.Exec("INSERT INTO small SELECT * FROM small").Error; err != nil {
				return err
			}
		}
		return nil
	})
	if driver.KindOf(err) != driver.Full || xerror.From(err).GetErrorCode() != xerror.StorageError {
		t.Errorf("error = %v, want kind Full and STORAGE_ERROR", err)
	}
}
