// Package testserver finds the servers for conformance suites.
//
// A variable contains the DSN of a server, such as PLINTH_TEST_POSTGRES_DSN. If a
// variable is not set, the project's test command starts a private server and sets the
// variable. PLINTH_TEST_CONTROL is then the URL of an API with which a test starts its
// own servers, and stops and restarts them:
//
//	POST   /servers?kind=postgres   201 {"id": "3", "dsn": "postgres://...",
//	                                "version": "PostgreSQL 15.4"};
//	                                501 if a server of that kind cannot be started
//	POST   /servers/3/stop          204, the server was shut down
//	POST   /servers/3/kill          204, the server was killed
//	POST   /servers/3/start         204, the server is available at the same address
//	POST   /servers/3/pause         204, its processes are suspended; connections stay open
//	POST   /servers/3/continue      204, its processes are resumed
//	DELETE /servers/3               204, the server and its data were removed
//
// The kinds redis-sentinel and redis-cluster consist of several servers. Their response
// also contains the nodes, and each operation is available for a single node:
//
//	POST   /servers?kind=redis-sentinel   201 {"id": "4", "dsn": "...",
//	                                      "master": "mymaster", "password": "...",
//	                                      "nodes": [{"name": "node-1", "role": "master",
//	                                      "address": "127.0.0.1:7001"}, ...]}
//	POST   /servers/4/nodes/node-1/kill   204
package testserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

const (
	// Control is the variable that contains the URL of the test command.
	Control xenv.EnvKey = "PLINTH_TEST_CONTROL"
	// CA is the variable that contains the path of the PEM file with the CA certificate
	// of private servers.
	CA xenv.EnvKey = "PLINTH_TEST_TLS_CA"

	// callTimeout limits the start or stop of a server.
	callTimeout = time.Minute
)

// Variable returns the variable that contains the DSN of a kind of server.
func Variable(kind string) xenv.EnvKey {
	suffix := "_DSN"
	if kind == "redis" {
		suffix = "_URL"
	}
	return xenv.EnvKey("PLINTH_TEST_" + strings.ToUpper(kind) + suffix)
}

// Find returns the DSN of a kind of server and its source. ok is false if the variable is
// not set.
func Find(kind string) (dsn, source string, ok bool) {
	variable := Variable(kind)
	dsn, ok = xenv.GetEnv(variable)
	source = xenv.GetEnvString(xenv.EnvKey("PLINTH_TEST_"+strings.ToUpper(kind)+"_SOURCE"),
		variable.String())
	return dsn, source, ok
}

// Server is a server, or a group of servers, of a single test.
type Server struct {
	DSN string
	// TLSDSN is the DSN of a separate TLS port, or empty.
	TLSDSN string
	// Version is the product and its release.
	Version string
	// Master is the name of the group for Redis Sentinel, and Password is the password of
	// the data nodes. Nodes are the servers of the group.
	Master, Password string
	Nodes            []Node

	controls
}

// Node is one server of a group.
type Node struct {
	Name    string // such as "node-1"
	Address string // host and port
	Role    string // initial role: master, replica or sentinel

	controls
}

// Start starts a server of the kind and removes it after the test. ok is false if the
// kind cannot be started.
func Start(tb testing.TB, kind string) (server *Server, ok bool) {
	tb.Helper()
	control, ok := xenv.GetEnv(Control)
	if !ok {
		return nil, false
	}
	var response struct {
		ID, DSN, TLSDSN, Version, Master, Password string
		Nodes                                      []Node
	}
	err := call(http.MethodPost, control+"/servers?kind="+url.QueryEscape(kind), http.StatusCreated,
		&response)
	if errors.Is(err, errUnsupported) {
		return nil, false
	}
	if err != nil {
		tb.Fatalf("start a %s server: %v", kind, err)
	}
	s := &Server{
		DSN:      response.DSN,
		TLSDSN:   response.TLSDSN,
		Version:  response.Version,
		Master:   response.Master,
		Password: response.Password,
		Nodes:    response.Nodes,
		controls: controls{control + "/servers/" + url.PathEscape(response.ID)},
	}
	for i := range s.Nodes {
		s.Nodes[i].controls = controls{s.url + "/nodes/" + url.PathEscape(s.Nodes[i].Name)}
	}
	tb.Cleanup(func() {
		if err := call(http.MethodDelete, s.url, http.StatusNoContent, nil); err != nil {
			tb.Errorf("remove the %s server: %v", kind, err)
		}
	})
	return s, true
}

// controls are the operations on a server or node.
type controls struct{ url string }

func (s controls) post(operation string) error {
	return call(http.MethodPost, s.url+"/"+operation, http.StatusNoContent, nil)
}

// Stop shuts the server down and waits until it has exited.
func (s controls) Stop() error { return s.post("stop") }

// Kill kills the server.
func (s controls) Kill() error { return s.post("kill") }

// Start restarts the server with its data at the same address, and waits until it is
// available.
func (s controls) Start() error { return s.post("start") }

// Pause suspends the server. Its connections stay open, but it does not respond.
func (s controls) Pause() error { return s.post("pause") }

// Continue resumes a paused server.
func (s controls) Continue() error { return s.post("continue") }

// errUnsupported means that the test command cannot start the kind of server.
var errUnsupported = errors.New("servers of this kind cannot be started")

// call sends a request to the test command.
func call(method, target string, want int, response any) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, http.NoBody)
	if err != nil {
		return err
	}
	req.Close = true // ends the goroutines of the connection
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusNotImplemented:
		return errUnsupported
	case resp.StatusCode != want:
		return fmt.Errorf("%s %s: %s: %s",
			method, req.URL.Path, resp.Status, strings.TrimSpace(string(body)))
	case response == nil:
		return nil
	default:
		return json.Unmarshal(body, response)
	}
}
