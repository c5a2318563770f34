package stack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/plinthgo/plinth/tools/devstack/server"
)

// control is an HTTP endpoint through which tests start their own servers. The package
// comment of conformance/testserver documents the protocol.
type control struct {
	stack *Stack
	url   string // contains a secret token
	http  *http.Server
	done  chan error

	mu    sync.Mutex
	count int
	units map[string]unit
}

// unit is a server or a deployment that a test uses.
type unit interface {
	subject
	DSN() string
	TLSDSN() string
	Version() string
	Delete(ctx context.Context) error
}

// subject is a unit or one of its nodes.
type subject interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Kill(ctx context.Context) error
	Pause(ctx context.Context) error
	Continue(ctx context.Context) error
}

// serve starts the endpoint on the loopback interface.
func serve(ctx context.Context, stack *Stack) (*control, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &control{stack: stack, units: map[string]unit{}, done: make(chan error, 1)}
	token := "/" + rand.Text()
	c.url = "http://" + listener.Addr().String() + token
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+token+"/servers", c.create)
	mux.HandleFunc("DELETE "+token+"/servers/{id}", c.remove)
	for name, do := range map[string]func(subject, context.Context) error{
		"start": subject.Start, "stop": subject.Stop, "kill": subject.Kill, "pause": subject.Pause,
		"continue": subject.Continue,
	} {
		mux.HandleFunc("POST "+token+"/servers/{id}/"+name, c.on(do))
		mux.HandleFunc("POST "+token+"/servers/{id}/nodes/{node}/"+name, c.on(do))
	}
	c.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { c.done <- c.http.Serve(listener) }()
	return c, nil
}

// create handles requests for a new server or deployment.
func (c *control) create(w http.ResponseWriter, r *http.Request) {
	started, err := c.start(r.Context(), r.URL.Query().Get("kind"))
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	case started == nil:
		http.Error(w, "no private server of this kind is running", http.StatusNotImplemented)
		return
	}
	c.mu.Lock()
	c.count++
	id := strconv.Itoa(c.count)
	c.units[id] = started
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(describe(id, started)) //nolint:gosec // the test needs the password
}

// start starts a server or a deployment. It returns nil for an unknown kind and for a
// kind without a private server: if the environment provides a server, tests must not use
// another product.
func (c *control) start(ctx context.Context, name string) (unit, error) {
	runs := func(k *server.Kind) bool {
		return slices.ContainsFunc(c.stack.rows,
			func(r row) bool { return r.kind == k && r.private != nil })
	}
	if k, ok := server.ByName(name); ok && runs(k) {
		s, err := c.stack.group.Start(ctx, k)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	if t, ok := server.TopologyByName(name); ok && runs(t.Kind) {
		d, err := c.stack.group.Deploy(ctx, t)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	return nil, nil
}

// description is the JSON representation of a unit.
type description struct {
	ID       string `json:"id"`
	DSN      string `json:"dsn"`
	TLSDSN   string `json:"tlsDSN,omitempty"`
	Version  string `json:"version"`
	Master   string `json:"master,omitempty"`
	Password string `json:"password,omitempty"` // of the nodes, for direct connections
	Nodes    []node `json:"nodes,omitempty"`
}

type node struct {
	Name    string      `json:"name"`
	Address string      `json:"address"`
	Role    server.Role `json:"role"`
}

func describe(id string, u unit) description {
	desc := description{ID: id, DSN: u.DSN(), TLSDSN: u.TLSDSN(), Version: u.Version()}
	if d, ok := u.(*server.Deployment); ok {
		desc.Master, desc.Password = d.Master, d.Password()
		for _, n := range d.Nodes() {
			desc.Nodes = append(desc.Nodes, node{Name: n.Name, Address: n.Address(), Role: n.Role})
		}
	}
	return desc
}

// find returns the subject of a request, or nil.
func (c *control) find(r *http.Request) subject {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, ok := c.units[r.PathValue("id")]
	name := r.PathValue("node")
	if !ok {
		return nil
	}
	if name == "" {
		return u
	}
	if d, ok := u.(*server.Deployment); ok {
		for _, n := range d.Nodes() {
			if n.Name == name {
				return n
			}
		}
	}
	return nil
}

// on returns a handler that calls do for the subject of a request.
func (c *control) on(do func(subject, context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := c.find(r)
		if s == nil {
			http.Error(w, "unknown server", http.StatusNotFound)
			return
		}
		done(w, do(s, r.Context()))
	}
}

// remove handles requests to delete a unit.
func (c *control) remove(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	c.mu.Lock()
	u, ok := c.units[id]
	delete(c.units, id)
	c.mu.Unlock()
	if !ok {
		http.Error(w, "unknown server", http.StatusNotFound)
		return
	}
	done(w, u.Delete(r.Context()))
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (c *control) close() error {
	err := c.http.Close()
	if served := <-c.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
