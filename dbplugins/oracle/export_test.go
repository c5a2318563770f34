package oracle

import (
	"context"
	sqldriver "database/sql/driver"
	"time"

	"gorm.io/gorm"
)

// DialectorWith returns a dialector of this package whose connections are opened by open.
// cut breaks the network of a connection.
func DialectorWith(
	open func(ctx context.Context, cut func()) (sqldriver.Conn, error),
) gorm.Dialector {
	return &dialector{open: func(ctx context.Context, w *wire) (sqldriver.Conn, error) {
		return open(ctx, w.close)
	}}
}

// Connector returns the connector of this package with a login timeout.
func Connector(dsn string, timeout time.Duration) (sqldriver.Connector, error) {
	clean, config, err := parse(dsn)
	return &connector{open: library(clean, config), timeout: timeout}, err
}

// Internals for tests.
var (
	Parse         = parse
	SplitLists    = splitLists
	Bind          = bind
	Quoted        = quoted
	TranslateType = translateType
	Translate     = (*dialector)(nil).Translate
)
