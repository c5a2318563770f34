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

// dial finds out whether something listens where the environment says that a server is.
func (r *row) dial(ctx context.Context) error {
	network, address, want := place(r.kind.Name, r.given)
	if want != "" {
		// and quotes no password
		return fmt.Errorf("%s does not parse: want %s", dsnVariable(r.kind), want)
	}
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, network, address)
	if err == nil {
		_ = conn.Close()
	}
	r.address, r.silent = address, err != nil
	return ctx.Err()
}

// place returns where the server of a connection string listens, or the form that the
// string should have.
func place(kind, dsn string) (network, address, want string) {
	switch kind {
	case "mysql":
		return placeOfMySQL(dsn)
	case "redis":
		return placeOfURL(dsn, "redis://:PASSWORD@HOST:PORT/0", "6379", "redis", "rediss")
	case "postfix":
		return placeOfURL(dsn, "smtp://HOST:PORT?maildir=FOLDER&ca=FILE", "25", "smtp")
	default:
		return placeOfURL(dsn, "postgres://USER:PASSWORD@HOST:PORT/DATABASE", "5432", "postgres",
			"postgresql")
	}
}

func placeOfURL(dsn, form, port string, schemes ...string) (network, address, want string) {
	u, err := url.Parse(dsn)
	// An at sign behind the host is that of a password which holds a slash or the like.
	if err != nil || u.Hostname() == "" || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") ||
		!slices.Contains(schemes, u.Scheme) {
		return "", "", form
	}
	return "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)), ""
}

// ofMySQL is the end of a connection string from the last at sign before the last slash
// on, which no password reaches.
var ofMySQL = regexp.MustCompile(`@(tcp|unix)\(([^()@]+)\)/[^/@]*$`)

func placeOfMySQL(dsn string) (network, address, want string) {
	found := ofMySQL.FindStringSubmatch(dsn)
	if found == nil {
		return "", "", "USER:PASSWORD@tcp(HOST:PORT)/DATABASE"
	}
	network, address = found[1], found[2]
	if _, _, err := net.SplitHostPort(address); network == "tcp" && err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), "3306")
	}
	return network, address, ""
}
