package xdb

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

// CheckHealth pings the server. If all connections of the pool are in use, it opens another
// one, so that a saturated pool is not mistaken for a server that is down. (A database
// that was opened with a dialector of the application has only the pool.) If the server
// rejects that connection because of its limit, it has responded and serves the pool: then
// CheckHealth returns nil too. A replica that is down does not make it fail: the primary
// serves its reads.
func CheckHealth(ctx context.Context, db *gorm.DB) error { return dbconn.Of(db).CheckHealth(ctx, db) }

// Saturated reports whether all connections that the pool may have are in use, so that
// statements wait for one. A pool without a limit never is.
func Saturated(db *gorm.DB) bool { return dbconn.Saturated(db) }

// probe opens one connection, which pings the server, and closes it.
func (d *Database) probe(ctx context.Context) error {
	db, err := d.attempt(ctx, Options{MaxOpenConns: 1, MaxIdleConns: 1})
	if err != nil {
		return fmt.Errorf("xdb: ping: %w", d.info.Redact(err))
	}
	return dbconn.Close(db)
}
