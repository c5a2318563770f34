package cachetest

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/conformance/testserver"
)

// Servers are private cache servers of a test. The test can stop and start them.
type Servers struct {
	// URL is the URL for the driver.
	URL string
	// Password is the password for direct connections to data nodes.
	Password string
	// Nodes are the nodes of Sentinel or a cluster; it is empty for a single server.
	Nodes []Node

	tb     testing.TB
	server *testserver.Server
	report *testreport.Run
}

// Node is one of several related servers.
type Node struct {
	Name    string // such as "node-1"
	Address string // host and port
	Role    string // initially: master, replica or sentinel
}

// StartServers starts servers of a kind, such as "redis", "redis-sentinel" or
// "redis-cluster", and stops them after the test. If the project's test command is not
// available, StartServers skips the test and reports the reason.
func StartServers(tb testing.TB, kind string) *Servers {
	tb.Helper()
	report := &testreport.Run{Family: "failover", Backend: kind, Source: "nothing"}
	testreport.Record(tb, report)
	server, ok := testserver.Start(tb, kind)
	if !ok {
		report.Reason = "cannot start " + kind
		tb.Skip(report.Reason + "; `make test` starts the servers that are installed")
	}
	_, report.Source, _ = testserver.Find("redis")
	report.Server, report.Tests = server.Version, 1
	s := &Servers{
		URL: server.DSN, Password: server.Password,
		tb: tb, server: server, report: report,
	}
	for _, n := range server.Nodes {
		s.Nodes = append(s.Nodes, Node{Name: n.Name, Address: n.Address, Role: n.Role})
	}
	return s
}

// Note logs a measurement and adds it to the report of the test run.
func (s *Servers) Note(format string, args ...any) {
	s.tb.Helper()
	line := fmt.Sprintf(format, args...)
	s.tb.Log(line)
	s.report.Notes = append(s.report.Notes, line)
}

// Stop stops a node gracefully; "" means all nodes.
func (s *Servers) Stop(node string) error {
	return s.on(node, (*testserver.Server).Stop, testserver.Node.Stop)
}

// Kill kills a node; "" means all nodes.
func (s *Servers) Kill(node string) error {
	return s.on(node, (*testserver.Server).Kill, testserver.Node.Kill)
}

// Start restarts a node at its address and returns when it responds; "" means all nodes.
func (s *Servers) Start(node string) error {
	return s.on(node, (*testserver.Server).Start, testserver.Node.Start)
}

// Pause suspends a node without closing its connections; "" means all nodes.
func (s *Servers) Pause(node string) error {
	return s.on(node, (*testserver.Server).Pause, testserver.Node.Pause)
}

// Continue resumes a paused node; "" means all nodes.
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
	return fmt.Errorf("unknown node %q", name)
}
