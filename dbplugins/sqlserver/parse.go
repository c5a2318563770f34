package sqlserver

import (
	"cmp"
	"fmt"
	"net"
	"strconv"

	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// parse reads a DSN, ours or one of the application's own.
func parse(dsn string) (msdsn.Config, error) {
	cfg, err := msdsn.Parse(dsn)
	if err != nil {
		return cfg, fmt.Errorf("sqlserver: %w", err)
	}
	file, ok := cfg.Parameters[caParam]
	if !ok {
		return cfg, nil
	}
	if cfg.TLSConfig == nil || cfg.TrustServerCertificate {
		return cfg, fmt.Errorf(
			"sqlserver: the connection string has %s, but trusts every certificate", caParam)
	}
	trusted, err := driver.TLSConfig(driver.TLSVerifyFull, file, cfg.TLSConfig.ServerName)
	if err == nil {
		cfg.TLSConfig.RootCAs = trusted.RootCAs
	}
	return cfg, err
}

// Describe implements driver.Driver.
func (Driver) Describe(dsn string) string {
	cfg, err := msdsn.Parse(dsn)
	if err != nil {
		return ""
	}
	where := net.JoinHostPort(cfg.Host, strconv.FormatUint(cmp.Or(cfg.Port, defaultPort), 10))
	if cfg.Instance != "" {
		where = cfg.Host + `\` + cfg.Instance
	}
	return where + "/" + cfg.Database
}
