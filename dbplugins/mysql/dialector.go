package mysql

import (
	"cmp"
	"context"
	"database/sql"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// batchSize is how many rows a statement has at most: it has to fit into
// max_allowed_packet.
const batchSize = 500

// microseconds is what the servers keep of a time at most.
var microseconds = 6

// dialector is gorm's with our pool and our errors. It has none before Initialize,
// because a DSN that does not parse is an error only then.
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
		return driver.Translate(driver.UnknownDatabase, err, err.Error()) // no waiting mends that
	}
	connector, err := newConnector(cfg)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	db.ConnPool = pool // which gorm closes if this fails
	db.CreateBatchSize = cmp.Or(db.CreateBatchSize, batchSize)
	d.Dialector = gormmysql.Dialector{Config: &gormmysql.Config{
		Conn: pool, DSNConfig: cfg, DefaultDatetimePrecision: &microseconds,
	}}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	if err := pool.PingContext(ctx); err != nil { // gorm's look at the version has no end
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
