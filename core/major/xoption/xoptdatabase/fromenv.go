package xoptdatabase

import (
	"context"
	"time"

	"gorm.io/gorm"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// FromEnv takes the configuration from DATABASE_*. A variable that is not set changes nothing that an option
// before FromEnv has said. DATABASE_DRIVER that is none, or not set at all, is no database.
func FromEnv() Option { return set(readEnv) }

func readEnv(o *xDB.Options) {
	if name, ok := xEnv.GetEnv(xEnv.DatabaseDriver); ok {
		o.Driver, o.DSN = name, ""
		o.Parts = driver.Config{
			Host:        xEnv.String(xEnv.DatabaseHost),
			Port:        xEnv.Int(xEnv.DatabasePort),
			User:        xEnv.String(xEnv.DatabaseUser),
			Pass:        xEnv.String(xEnv.DatabasePass),
			Name:        xEnv.String(xEnv.DatabaseName),
			Path:        xEnv.String(xEnv.DatabasePath),
			Charset:     given(xEnv.DatabaseCharset),
			Timezone:    given(xEnv.DatabaseTimezone),
			ServiceName: xEnv.String(xEnv.DatabaseServiceName),
			LibDir:      xEnv.String(xEnv.DatabaseLibDir),
			TLS:         given(xEnv.DatabaseTLS),
			TLSCA:       xEnv.String(xEnv.DatabaseTLSCA),
		}
	}
	if dsn, ok := xEnv.GetEnv(xEnv.DatabaseDsn); ok {
		o.DSN = xLog.Secret(dsn)
	}
	o.TablePrefix = xEnv.GetEnvString(xEnv.DatabasePrefix, o.TablePrefix)
	o.SingularTables = xEnv.GetEnvBool(xEnv.DatabaseSingularTables, o.SingularTables)
	number(&o.MaxOpenConns, xEnv.DatabaseMaxOpenConns, xEnv.Int)
	number(&o.MaxIdleConns, xEnv.DatabaseMaxIdleConns, xEnv.Int)
	number(&o.ConnMaxLifetime, xEnv.DatabaseConnMaxLifetime, xEnv.Duration)
	number(&o.ConnMaxIdleTime, xEnv.DatabaseConnMaxIdleTime, xEnv.Duration)
	number(&o.ConnectTimeout, xEnv.DatabaseConnectTimeout, xEnv.Duration)
	number(&o.AcquireTimeout, xEnv.DatabaseAcquireTimeout, xEnv.Duration)
	number(&o.SlowThreshold, xEnv.DatabaseSlowThreshold, xEnv.Duration)
}

// given returns a value without the variable's default, which every driver knows: what nobody has chosen may be worth a
// warning, and what somebody has chosen for nothing too.
func given(key xEnv.EnvKey) string {
	if _, set := xEnv.GetEnv(key); !set {
		return ""
	}
	return xEnv.String(key)
}

// number sets dst to the variable's value, where it is set.
func number[N int | time.Duration](dst *N, key xEnv.EnvKey, read func(xEnv.EnvKey) N) {
	if _, ok := xEnv.GetEnv(key); ok {
		*dst = orNone(read(key))
	}
}

// orNone turns the 0 of the environment and the options, which is none, into that of xDB.Options.
func orNone[N int | time.Duration](n N) N {
	if n == 0 {
		return -1
	}
	return n
}

// asPrepare returns fn in the form that xDB takes, or nil where it is nil.
func asPrepare[F PrepareFunc](fn F) xDB.Prepare {
	switch f := any(fn).(type) {
	case func(context.Context, *gorm.DB) error:
		return f
	case func(*gorm.DB) error:
		if f == nil {
			return nil
		}
		return func(_ context.Context, db *gorm.DB) error { return f(db) }
	default:
		return nil
	}
}
