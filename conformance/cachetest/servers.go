package cachetest

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/conformance/testserver"
)

// Servers are cache servers that belong to a single test, which may end them and start
// them again.
type Servers struct {
	// URL is where the driver finds them.
	URL string
	// Password opens the nodes that hold data, for who asks one of them.
	Password string
	// Nodes are those that belong together; a single server has none.
	Nodes []Node

	tb     testing.TB
	server *testserver.Server
	report *testreport.Run
}

// Node is one of several servers that belong together.
type Node struct {
	Name    string // as "node-1"
	Address string // host and port
	Role    string // at the start: master, replica or sentinel
}

// StartServers starts servers of a kind, as "redis", "redis-sentinel" or "redis-cluster",
// which end with the test. Where the project's test command is not there to start them
// the test is skipped, and the table at the end of its run says so.
func StartServers(tb testing.TB, kind string) *Servers {
	tb.Helper()
	report := &testreport.Run{Family: "failover", Backend: kind, Source: "nothing"}
	testreport.Record(tb, report)
	server, ok := testserver.Start(tb, kind)
	if !ok {
		report.Reason = "no " + kind + " can be started and ended here"
		tb.Skip(report.Reason + "; `make test` starts those whose binaries it finds on the machine")
	}
	_, report.Source, _ = testserver.Find("redis")
	report.Server, report.Tests = server.Version, 1
	s := &Servers{
		URL: server.DSN, Password: server.Password, tb: tb, server: server,
		report: report,
	}
	for _, n := range server.Nodes {
		s.Nodes = append(s.Nodes, Node{Name: n.Name, Address: n.Address, Role: n.Role})
	}
	return s
}

// Note logs a line with what was measured, and puts it under the table at the end of the
// test run.
func (s *Servers) Note(format string, args ...any) {
	s.tb.Helper()
	line := fmt.Sprintf(format, args...)
	s.tb.Log(line)
	s.report.Notes = append(s.report.Notes, line)
}

// Stop ends a node in order; "" is all of them.
func (s *Servers) Stop(node string) error {
	return s.on(node, (*testserver.Server).Stop, testserver.Node.Stop)
}

// Kill ends a node at once; "" is all of them.
func (s *Servers) Kill(node string) error {
	return s.on(node, (*testserver.Server).Kill, testserver.Node.Kill)
}

// Start starts a node again at its address, and returns when it answers; "" is all of
// them.
func (s *Servers) Start(node string) error {
	return s.on(node, (*testserver.Server).Start, testserver.Node.Start)
}

// Pause halts a node, whose connections stay open; "" is all of them.
func (s *Servers) Pause(node string) error {
	return s.on(node, (*testserver.Server).Pause, testserver.Node.Pause)
}

// Continue lets a paused node go on; "" is all of them.
func (s *Servers) Continue(node string) error {
	return s.on(node, (*testserver.Server).Continue, testserver.Node.Continue)
}

func (s *Servers) on(
	name string, all func(*testserver.Server) error, one func(testserver.Node) error,
) error {
	if name == "" {
		return all(s.server)
	}
	for _, n := range s.server.Nodes {
		if n.Name == name {
			return one(n)
		}
	}
	return fmt.Errorf("there is no node %q", name)
}
