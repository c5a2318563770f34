package page_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix/internal/page"
)

// service is a Plinth application with the operations of testdata/usercenter.json.
type service struct {
	base    string        // URL
	more    chan struct{} // a value sends the next event
	stopped chan struct{} // closed when the client leaves the stream

	mu       sync.Mutex
	requests []recorded
}

// recorded is a request that the service received.
type recorded struct {
	Method, URI, Body string
	Header            http.Header
}

type (
	createUser struct {
		Username string `json:"username" binding:"required,min=3"`
		Email    string `json:"email" binding:"required,email"`
	}
	getUser struct {
		ID    int64  `uri:"id"`
		Auth  string `header:"Authorization"`
		Trace string `header:"X-Trace"`
	}
	listUsers struct {
		Roles []string `form:"role"`
		Sort  string   `form:"sort"`
	}
	uploadAvatar struct {
		ID    int64      `uri:"id"`
		File  *xapi.File `form:"file" binding:"required"`
		Title string     `form:"title"`
		Tags  []string   `form:"tags"`
	}
	event struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
)

// start serves the application and the reference of a document.
func start(t *testing.T, document []byte) *service {
	t.Helper()
	s := &service{more: make(chan struct{}), stopped: make(chan struct{})}
	p, err := page.New(document, page.Options{Base: "/reference", DocumentURL: "/openapi.json"})
	if err != nil {
		t.Fatal(err)
	}
	app := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		e.GET("/reference", gin.WrapH(p))
		e.GET("/reference/*path", gin.WrapH(p))
		s.routes(xapi.Group(e, "/api/v1"))
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.record(r)
		app.Engine().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.base = server.URL
	return s
}

func (s *service) routes(g *xapi.Router) {
	xapi.Post(g, "/users", func(_ context.Context, in *createUser) (any, error) {
		return gin.H{"id": 9007199254740993, "username": in.Username, "tags": []int{}}, nil
	}, xapi.Status(http.StatusCreated))
	xapi.Get(g, "/users", func(_ context.Context, in *listUsers) (any, error) { return in, nil })
	xapi.Get(g, "/users/:id", func(_ context.Context, in *getUser) (any, error) {
		if in.ID == 404 {
			return nil, xerror.New(xerror.UserNotFound, "")
		}
		return gin.H{"id": in.ID, "auth": in.Auth, "trace": in.Trace}, nil
	})
	xapi.Put(g, "/users/:id/avatar", func(_ context.Context, in *uploadAvatar) (any, error) {
		return gin.H{"name": in.File.Filename, "size": in.File.Size, "title": in.Title, "tags": in.Tags}, nil
	})
	xapi.Get(g, "/events", func(ctx context.Context, _ *struct{}) (iter.Seq2[event, error], error) {
		return s.events(ctx), nil
	})
	xapi.Get(g, "/export", func(context.Context, *struct{}) (*xapi.Download, error) {
		return &xapi.Download{Content: strings.NewReader("content"), Name: "users.bin"}, nil
	})
}

// events sends an event for each value of more, until the client leaves.
func (s *service) events(ctx context.Context) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		defer close(s.stopped)
		for i := 1; ; i++ {
			select {
			case <-s.more:
			case <-ctx.Done():
				return
			}
			if !yield(event{i, "event"}, nil) {
				return
			}
		}
	}
}

func (s *service) record(r *http.Request) {
	if len(r.URL.Path) < 5 || r.URL.Path[:5] != "/api/" {
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, recorded{r.Method, r.RequestURI, string(body), r.Header.Clone()})
}

// last returns the last request.
func (s *service) last(t *testing.T) recorded {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		t.Fatal("no request was received")
	}
	return s.requests[len(s.requests)-1]
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
