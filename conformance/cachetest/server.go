package cachetest

import (
	"net"
	"strconv"
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/conformance/testserver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Server returns the URL of the server for a kind of backend, and where it comes from for
// Harness.Source: PLINTH_TEST_REDIS_URL for "redis". Without one the test is skipped, and
// the table at the end of the project's test run says so.
func Server(tb testing.TB, kind string) (url, source string) {
	tb.Helper()
	url, source, ok := testserver.Find(kind)
	if !ok {
		reason := testserver.Variable(kind).String() + " is not set"
		testreport.Record(tb, &testreport.Run{
			Family: "cache", Backend: kind, Source: "nothing",
			Reason: reason,
		})
		tb.Skip(reason + "; `make test` starts the servers whose binaries it finds on the machine")
	}
	return url, source
}

// Outage is a backend whose server can be stopped and started again under use.
type Outage struct {
	// Config are the settings for it. They need Host and Port, since the suite also puts
	// a network in front of it that breaks and falls silent.
	Config driver.Config
	Stop   func() error // returns when nothing answers any more
	Start  func() error // returns when the server answers again
}

// PrivateOutage starts a server that only this test uses, where the test command can
// start one, and kills that. parse turns its URL into settings. Else it cuts the network
// in front of the server of config.
func PrivateOutage(
	tb testing.TB, kind string, parse func(url string) driver.Config, config driver.Config,
) Outage {
	tb.Helper()
	if s, ok := testserver.Start(tb, kind); ok {
		return Outage{Config: parse(s.DSN), Stop: s.Kill, Start: s.Start}
	}
	return CutOff(tb, config)
}

// CutOff is an outage of the network in front of the server of config, which needs its
// host and port: connections break, and new ones are refused.
func CutOff(tb testing.TB, config driver.Config) Outage {
	tb.Helper()
	r, inFront := beginRelay(tb, config)
	return Outage{Config: inFront, Stop: r.Stop, Start: r.Start}
}

// beginRelay begins a network in front of the server of config, and returns the settings
// that lead through it.
func beginRelay(tb testing.TB, config driver.Config) (*testserver.Relay, driver.Config) {
	tb.Helper()
	if config.Host == "" || config.Port == 0 || config.URL != "" {
		tb.Fatal("the settings of an outage need Host and Port, and no URL")
	}
	r := testserver.BeginRelay(tb, net.JoinHostPort(config.Host, strconv.Itoa(config.Port)),
		"127.0.0.1:0")
	host, port, err := net.SplitHostPort(r.Address())
	must(tb, err)
	config.Host = host
	config.Port, err = strconv.Atoi(port)
	must(tb, err)
	return r, config
}
