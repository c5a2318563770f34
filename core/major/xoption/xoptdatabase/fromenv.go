package xoptdatabase

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// FromEnv takes the configuration from DATABASE_*. A variable that is not set changes nothing that an option
// before FromEnv has said. DATABASE_DRIVER that is none, or not set at all, is no database.
func FromEnv() Option { return set(readEnv) }

func readEnv(o *xdb.Options) {
	if name, ok := xenv.GetEnv(xenv.DatabaseDriver); ok {
		o.Driver, o.DSN = name, ""
		o.Parts = driver.Config{
			Host:        xenv.String(xenv.DatabaseHost),
			Port:        xenv.Int(xenv.DatabasePort),
			User:        xenv.String(xenv.DatabaseUser),
			Pass:        xenv.String(xenv.DatabasePass),
			Name:        xenv.String(xenv.DatabaseName),
			Path:        xenv.String(xenv.DatabasePath),
			Charset:     given(xenv.DatabaseCharset),
			Timezone:    given(xenv.DatabaseTimezone),
			ServiceName: xenv.String(xenv.DatabaseServiceName),
			LibDir:      xenv.String(xenv.DatabaseLibDir),
			TLS:         given(xenv.DatabaseTLS),
			TLSCA:       xenv.String(xenv.DatabaseTLSCA),
		}
	}
	if dsn, ok := xenv.GetEnv(xenv.DatabaseDsn); ok {
		o.DSN = xlog.Secret(dsn)
	}
	o.TablePrefix = xenv.GetEnvString(xenv.DatabasePrefix, o.TablePrefix)
	o.SingularTables = xenv.GetEnvBool(xenv.DatabaseSingularTables, o.SingularTables)
	number(&o.MaxOpenConns, xenv.DatabaseMaxOpenConns, xenv.Int)
	number(&o.MaxIdleConns, xenv.DatabaseMaxIdleConns, xenv.Int)
	number(&o.ConnMaxLifetime, xenv.DatabaseConnMaxLifetime, xenv.Duration)
	number(&o.ConnMaxIdleTime, xenv.DatabaseConnMaxIdleTime, xenv.Duration)
	number(&o.ConnectTimeout, xenv.DatabaseConnectTimeout, xenv.Duration)
	number(&o.AcquireTimeout, xenv.DatabaseAcquireTimeout, xenv.Duration)
	number(&o.SlowThreshold, xenv.DatabaseSlowThreshold, xenv.Duration)
}

// given returns a value without the variable's default, which every driver knows: what nobody has chosen may be worth a
// warning, and what somebody has chosen for nothing too.
func given(key xenv.EnvKey) string {
	if _, set := xenv.GetEnv(key); !set {
		return ""
	}
	return xenv.String(key)
}

// number sets dst to the variable's value, where it is set.
func number[N int | time.Duration](dst *N, key xenv.EnvKey, read func(xenv.EnvKey) N) {
	if _, ok := xenv.GetEnv(key); ok {
		*dst = orNone(read(key))
	}
}

// orNone turns the 0 of the environment and the options, which is none, into that of xdb.Options.
func orNone[N int | time.Duration](n N) N {
	if n == 0 {
		return -1
	}
	return n
}

// asPrepare returns fn in the form that xdb takes, or nil where it is nil.
func asPrepare[F PrepareFunc](fn F) xdb.Prepare {
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
