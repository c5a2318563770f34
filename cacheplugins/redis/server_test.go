package redis_test

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// server returns the URL of the test server and its source, or skips the test.
func server(tb testing.TB) (address, source string) {
	tb.Helper()
	return cachetest.Server(tb, "redis")
}

// parts splits a URL into separate settings.
func parts(tb testing.TB, address string) driver.Config {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal("the server's URL cannot be parsed")
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		tb.Fatal("the server's URL has no port")
	}
	pass, _ := u.User.Password()
	return driver.Config{Host: u.Hostname(), Port: port, User: u.User.Username(), Pass: pass}
}
