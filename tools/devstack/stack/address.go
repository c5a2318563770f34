package stack

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// dial checks that the server of the environment accepts connections.
func (r *row) dial(ctx context.Context) error {
	network, address, want := addressOf(r.kind.Name, r.dsn)
	if want != "" {
		// the error must not contain the password
		return fmt.Errorf("invalid %s: want %s", dsnVariable(r.kind), want)
	}
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, network, address)
	if err == nil {
		_ = conn.Close()
	}
	r.address, r.silent = address, err != nil
	return ctx.Err()
}

// addressOf returns the address in a connection string, or the expected form of the
// string if it is invalid.
func addressOf(kind, dsn string) (network, address, want string) {
	switch kind {
	case "mysql":
		return addressOfMySQL(dsn)
	case "redis":
		return addressOfURL(dsn, "redis://:PASSWORD@HOST:PORT/0", "6379", "redis", "rediss")
	case "postfix":
		return addressOfURL(dsn, "smtp://HOST:PORT?maildir=FOLDER&ca=FILE", "25", "smtp")
	default:
		return addressOfURL(dsn, "postgres://USER:PASSWORD@HOST:PORT/DATABASE", "5432", "postgres",
			"postgresql")
	}
}

func addressOfURL(dsn, form, port string, schemes ...string) (network, address, want string) {
	u, err := url.Parse(dsn)
	// An @ after the host belongs to a password with an unescaped slash.
	if err != nil || u.Hostname() == "" || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") ||
		!slices.Contains(schemes, u.Scheme) {
		return "", "", form
	}
	return "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)), ""
}

// mysqlAddress matches the end of a connection string from the last @ before the last
// slash, which contains no part of the password.
var mysqlAddress = regexp.MustCompile(`@(tcp|unix)\(([^()@]+)\)/[^/@]*$`)

func addressOfMySQL(dsn string) (network, address, want string) {
	found := mysqlAddress.FindStringSubmatch(dsn)
	if found == nil {
		return "", "", "USER:PASSWORD@tcp(HOST:PORT)/DATABASE"
	}
	network, address = found[1], found[2]
	if _, _, err := net.SplitHostPort(address); network == "tcp" && err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), "3306")
	}
	return network, address, ""
}
