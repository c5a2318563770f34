package devstack

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

	"github.com/plinthgo/plinth/tools/internal/server"
)

// control lets tests start servers of their own. The package comment of core/internal/testserver has the protocol.
type control struct {
	stack *Stack
	url   string // with a token that others do not know
	http  *http.Server
	done  chan error

	mu      sync.Mutex
	count   int
	servers map[string]*server.Server
}

// serve listens on this machine only.
func serve(ctx context.Context, stack *Stack) (*control, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &control{stack: stack, servers: map[string]*server.Server{}, done: make(chan error, 1)}
	token := "/" + rand.Text()
	c.url = "http://" + listener.Addr().String() + token
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+token+"/servers", c.create)
	for pattern, do := range map[string]func(*server.Server, context.Context) error{
		"DELETE " + token + "/servers/{id}":     (*server.Server).Delete,
		"POST " + token + "/servers/{id}/start": (*server.Server).Start,
		"POST " + token + "/servers/{id}/stop":  (*server.Server).Stop,
		"POST " + token + "/servers/{id}/kill":  (*server.Server).Kill,
	} {
		mux.HandleFunc(pattern, c.on(do))
	}
	c.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { c.done <- c.http.Serve(listener) }()
	return c, nil
}

// create answers a request for a new server. There are only those kinds of which one runs: where the environment gives a
// server, tests that need one of their own must not get another product.
func (c *control) create(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("kind")
	i := slices.IndexFunc(c.stack.rows, func(r row) bool { return r.kind.Name == name && r.private != nil })
	if i < 0 {
		http.Error(w, "no server of this kind was started here", http.StatusNotImplemented)
		return
	}
	started, err := c.stack.group.Start(r.Context(), c.stack.rows[i].kind)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	c.mu.Lock()
	c.count++
	id := strconv.Itoa(c.count)
	c.servers[id] = started
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]string{"id": id, "dsn": started.DSN()})
}

// on answers a request that does something with one server.
func (c *control) on(do func(*server.Server, context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		c.mu.Lock()
		s, ok := c.servers[id]
		if r.Method == http.MethodDelete {
			delete(c.servers, id)
		}
		c.mu.Unlock()
		if !ok {
			http.Error(w, "there is no such server", http.StatusNotFound)
			return
		}
		if err := do(s, r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func (c *control) close() error {
	err := c.http.Close()
	if served := <-c.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
