package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// dialector is gorm's dialector with the pool and the errors of this package.
type dialector struct {
	gormpostgres.Dialector

	dsn string
}

func newDialector(dsn string) *dialector {
	return &dialector{Dialector: gormpostgres.Dialector{Config: &gormpostgres.Config{}}, dsn: dsn}
}

// Initialize implements gorm.Dialector.
func (d *dialector) Initialize(db *gorm.DB) error {
	config, err := parse(d.dsn)
	if err != nil {
		return err
	}
	if _, isSet := config.RuntimeParams["client_encoding"]; !isSet {
		config.RuntimeParams["client_encoding"] = "UTF8" // the database may use another encoding
	}
	db.CreateBatchSize = cmp.Or(db.CreateBatchSize, batchSize)
	config.DialFunc = dialer(config.DialFunc)
	inner := stdlib.GetConnector(*config, stdlib.OptionAfterConnect(readUTC))
	d.Conn = pool{sql.OpenDB(connector{inner})}
	return d.Dialector.Initialize(db)
}

// Translate implements gorm.ErrorTranslator.
func (d *dialector) Translate(err error) error {
	kind := Driver{}.ErrorKind(err)
	return driver.Translate(kind, err, detail(kind, err))
}

// readUTC makes the connection return times in UTC instead of the local time zone.
func readUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}
