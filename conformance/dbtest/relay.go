package dbtest

import (
	"net"
	"strconv"
	"testing"

	"github.com/plinthgo/plinth/conformance/testserver"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// startRelay starts a relay from address to the server of parts. It stops when the test
// completes.
func startRelay(tb testing.TB, parts driver.Config, address string) *testserver.Relay {
	if parts.Host == "" || parts.Port == 0 {
		tb.Fatalf("relay: the parts %v need a host and a port", parts)
	}
	server := net.JoinHostPort(parts.Host, strconv.Itoa(parts.Port))
	return testserver.StartRelay(tb, server, address)
}

// throughRelay returns the parts with the address of the relay.
func throughRelay(tb testing.TB, r *testserver.Relay, parts driver.Config) driver.Config {
	host, port, err := net.SplitHostPort(r.Address())
	check(tb, err, "relay")
	parts.Host = host
	parts.Port, err = strconv.Atoi(port)
	check(tb, err, "relay")
	return parts
}
