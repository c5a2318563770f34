package sqlserver

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// parse parses a DSN, including the parameter tls-ca.
func parse(dsn string) (msdsn.Config, error) {
	cfg, err := msdsn.Parse(dsn)
	if err != nil {
		return cfg, fmt.Errorf("sqlserver: parse DSN: %w", err)
	}
	file, ok := cfg.Parameters[caParam]
	if !ok {
		return cfg, nil
	}
	if cfg.TLSConfig == nil || cfg.TrustServerCertificate {
		return cfg, fmt.Errorf(
			"sqlserver: parse DSN: parameter %s requires TrustServerCertificate=false", caParam)
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
	address := net.JoinHostPort(cfg.Host, strconv.FormatUint(cmp.Or(cfg.Port, defaultPort), 10))
	if cfg.Instance != "" {
		address = cfg.Host + `\` + cfg.Instance
	}
	return address + "/" + url.PathEscape(cfg.Database)
}
