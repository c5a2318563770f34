// Package testserver finds the servers on which conformance suites run.
//
// A server is given by its connection string in the environment, as
// PLINTH_TEST_POSTGRES_DSN. The project's test command starts private servers where there
// is none, and exports theirs; PLINTH_TEST_CONTROL is then the URL at which a test gets
// further ones of its own, which it may stop and start again:
//
//	POST   /servers?kind=postgres   201 {"id": "3", "dsn": "postgres://...", "version": "PostgreSQL 15.4"};
//	                                501 where none of the kind can be started
//	POST   /servers/3/stop          204, the server has ended in order
//	POST   /servers/3/kill          204, it has ended at once
//	POST   /servers/3/start         204, it answers at the same address
//	POST   /servers/3/pause         204, its processes are halted; connections stay open
//	POST   /servers/3/continue      204, they go on
//	DELETE /servers/3               204, it and its data are gone
//
// The kinds redis-sentinel and redis-cluster are several servers that belong together.
// Their answer has also the nodes, and what can be done to all can be done to one of
// them:
//
//	POST   /servers?kind=redis-sentinel   201 {"id": "4", "dsn": "...", "master": "mymaster", "password": "...",
//	                                      "nodes": [{"name": "node-1", "address": "127.0.0.1:7001", "role": "master"}, ...]}
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
	// Control is the variable that holds the URL of the test command.
	Control xenv.EnvKey = "PLINTH_TEST_CONTROL"
	// CA is the variable that names the file of the PEM certificate which has signed
	// those of private servers.
	CA xenv.EnvKey = "PLINTH_TEST_TLS_CA"

	// patience is the most that a server takes to start or to stop.
	patience = time.Minute
)

// Variable is the one with the connection string of a kind of server.
func Variable(kind string) xenv.EnvKey {
	form := "_DSN"
	if kind == "redis" {
		form = "_URL"
	}
	return xenv.EnvKey("PLINTH_TEST_" + strings.ToUpper(kind) + form)
}

// Find returns the connection string of a kind of server and where it comes from; ok is
// false where there is none.
func Find(kind string) (dsn, source string, ok bool) {
	variable := Variable(kind)
	dsn, ok = xenv.GetEnv(variable)
	source = xenv.GetEnvString(xenv.EnvKey("PLINTH_TEST_"+strings.ToUpper(kind)+"_SOURCE"),
		variable.String())
	return dsn, source, ok
}

// Server is one that belongs to a single test, or several that belong together.
type Server struct {
	DSN string
	// TLSDSN is like DSN where the server listens for TLS on a port of its own; else it
	// is empty.
	TLSDSN string
	// Version is the product and its release.
	Version string
	// Master is the name under which sentinels know the servers, Nodes are those that
	// belong together, and Password opens those which hold data.
	Master, Password string
	Nodes            []Node

	switches
}

// Node is one of the servers that belong together.
type Node struct {
	Name    string // as "node-1"
	Address string // host and port
	Role    string // at the start: master, replica or sentinel

	switches
}

// Start starts a server of the kind, which ends with the test. ok is false where nothing
// here can start one.
func Start(tb testing.TB, kind string) (server *Server, ok bool) {
	tb.Helper()
	control, ok := xenv.GetEnv(Control)
	if !ok {
		return nil, false
	}
	var answer struct {
		ID, DSN, TLSDSN, Version, Master, Password string
		Nodes                                      []Node
	}
	err := call(http.MethodPost, control+"/servers?kind="+url.QueryEscape(kind), http.StatusCreated,
		&answer)
	if errors.Is(err, errNotHere) {
		return nil, false
	}
	if err != nil {
		tb.Fatalf("start a %s server: %v", kind, err)
	}
	s := &Server{
		DSN: answer.DSN, TLSDSN: answer.TLSDSN, Version: answer.Version,
		Master: answer.Master, Password: answer.Password, Nodes: answer.Nodes,
		switches: switches{control + "/servers/" + url.PathEscape(answer.ID)},
	}
	for i := range s.Nodes {
		s.Nodes[i].switches = switches{s.url + "/nodes/" + url.PathEscape(s.Nodes[i].Name)}
	}
	tb.Cleanup(func() {
		if err := call(http.MethodDelete, s.url, http.StatusNoContent, nil); err != nil {
			tb.Errorf("end the %s server: %v", kind, err)
		}
	})
	return s, true
}

// switches are what can be done to a server or to a node.
type switches struct{ url string }

func (s switches) post(what string) error {
	return call(http.MethodPost, s.url+"/"+what, http.StatusNoContent, nil)
}

// Stop ends the server in order, and returns when it is gone.
func (s switches) Stop() error { return s.post("stop") }

// Kill ends the server at once.
func (s switches) Kill() error { return s.post("kill") }

// Start starts the server again with its data and at its address, and returns when it
// answers.
func (s switches) Start() error { return s.post("start") }

// Pause halts the server: connections stay open, and nothing answers.
func (s switches) Pause() error { return s.post("pause") }

// Continue lets a paused server go on.
func (s switches) Continue() error { return s.post("continue") }

// errNotHere is the error of a kind of server that the test command cannot start.
var errNotHere = errors.New("servers of this kind cannot be started here")

// call asks the test command.
func call(method, target string, want int, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, http.NoBody)
	if err != nil {
		return err
	}
	req.Close = true // no goroutine stays behind
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
		return errNotHere
	case resp.StatusCode != want:
		return fmt.Errorf("%s %s: %s: %s",
			method, req.URL.Path, resp.Status, strings.TrimSpace(string(body)))
	case answer == nil:
		return nil
	default:
		return json.Unmarshal(body, answer)
	}
}
