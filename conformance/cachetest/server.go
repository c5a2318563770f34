package cachetest

import (
	"net"
	"strconv"
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/conformance/testserver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Server returns the URL of the test server for a kind of backend and its source for
// Harness.Source. For "redis" it reads PLINTH_TEST_REDIS_URL. If the variable is not set,
// Server skips the test and reports the reason.
func Server(tb testing.TB, kind string) (url, source string) {
	tb.Helper()
	url, source, ok := testserver.Find(kind)
	if !ok {
		reason := testserver.Variable(kind).String() + " is not set"
		testreport.Record(tb, &testreport.Run{
			Family:  "cache",
			Backend: kind,
			Source:  "nothing",
			Reason:  reason,
		})
		tb.Skip(reason + "; `make test` starts the servers that are installed")
	}
	return url, source
}

// Outage is a backend whose server can be stopped and started.
type Outage struct {
	// Config contains the settings of the backend. It must have Host and Port, because
	// the suite also inserts a proxy to simulate network failures.
	Config driver.Config
	Stop   func() error // returns when the server is down
	Start  func() error // returns when the server responds
}

// PrivateOutage starts a private server and kills it for outages; parse converts its URL
// to settings. If the test command cannot start a server, PrivateOutage returns
// CutOff(tb, config).
func PrivateOutage(
	tb testing.TB, kind string, parse func(url string) driver.Config, config driver.Config,
) Outage {
	tb.Helper()
	if s, ok := testserver.Start(tb, kind); ok {
		return Outage{Config: parse(s.DSN), Stop: s.Kill, Start: s.Start}
	}
	return CutOff(tb, config)
}

// CutOff returns an outage of the network to the server of config, which must have Host
// and Port. It breaks connections and rejects new ones.
func CutOff(tb testing.TB, config driver.Config) Outage {
	tb.Helper()
	r, proxied := startRelay(tb, config)
	return Outage{Config: proxied, Stop: r.Stop, Start: r.Start}
}

// startRelay starts a proxy of the server of config and returns the settings to connect
// through it.
func startRelay(tb testing.TB, config driver.Config) (*testserver.Relay, driver.Config) {
	tb.Helper()
	if config.Host == "" || config.Port == 0 || config.URL != "" {
		tb.Fatal("Outage.Config needs Host and Port and must not have a URL")
	}
	r := testserver.StartRelay(tb, net.JoinHostPort(config.Host, strconv.Itoa(config.Port)),
		"127.0.0.1:0")
	host, port, err := net.SplitHostPort(r.Address())
	must(tb, err)
	config.Host = host
	config.Port, err = strconv.Atoi(port)
	must(tb, err)
	return r, config
}
