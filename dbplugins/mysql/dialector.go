package mysql

import (
	"cmp"
	"context"
	"database/sql"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// batchSize is the maximum number of rows per statement, which must fit in
// max_allowed_packet.
const batchSize = 500

// microseconds is the maximum precision of a time column.
var microseconds = 6

// dialector is gorm's dialector with the pool and the errors of this package. The
// embedded dialector is set by Initialize, which also reports a DSN that cannot be
// parsed.
type dialector struct {
	gormmysql.Dialector

	dsn string
}

// Name implements gorm.Dialector.
func (*dialector) Name() string { return gormmysql.DefaultDriverName }

// Initialize implements gorm.Dialector.
func (d *dialector) Initialize(db *gorm.DB) error {
	cfg, err := parse(d.dsn)
	if err != nil {
		return driver.Translate(driver.UnknownDatabase, err, err.Error()) // a retry cannot fix it
	}
	connector, err := newConnector(cfg)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	db.ConnPool = pool // gorm closes it if Initialize fails
	db.CreateBatchSize = cmp.Or(db.CreateBatchSize, batchSize)
	d.Dialector = gormmysql.Dialector{Config: &gormmysql.Config{
		Conn: pool, DSNConfig: cfg, DefaultDatetimePrecision: &microseconds,
	}}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	if err := pool.PingContext(ctx); err != nil { // gorm's version query has no timeout
		return d.Translate(err)
	}
	return d.Translate(d.Dialector.Initialize(db))
}

// Translate implements gorm.ErrorTranslator.
func (*dialector) Translate(err error) error {
	if err == nil {
		return nil
	}
	return driver.Translate(Driver{}.ErrorKind(err), err, detail(err))
}
