package xapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

type createUser struct {
	Username string `binding:"required,min=3,max=32" json:"username"`
	Email    string `binding:"required,email"        json:"email"`
	Age      int    `binding:"min=0,max=150"         json:"age"`
}

type getUser struct {
	ID xsnowflake.SnowflakeID `binding:"required" uri:"id"`
}

type account struct {
	ID       xsnowflake.SnowflakeID `json:"id"`
	Username string                 `json:"username"`
}

func newEngine(tb testing.TB) *gin.Engine {
	tb.Helper()
	log, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	e := gin.New()
	e.ContextWithFallback = true
	e.Use(xhelper.Serve(xhelper.Config{Base: xlog.NewContext(context.Background(), log)}))
	xapi.Post(e, "/typed", func(_ context.Context, in *createUser) (*account, error) {
		return &account{ID: 1, Username: in.Username}, nil
	})
	e.POST("/direct", func(c *gin.Context) {
		in := xbind.Bind(c, &createUser{}).Data()
		if in == nil {
			return
		}
		xresult.SuccessHasData(c, "OK", &account{ID: 1, Username: in.Username})
	})
	xapi.Get(e, "/typed/:id", func(_ context.Context, in *getUser) (*account, error) {
		return &account{ID: in.ID, Username: "ada"}, nil
	})
	e.GET("/direct/:id", func(c *gin.Context) {
		id, err := xsnowflake.ParseSnowflakeID(c.Param("id"))
		if err != nil {
			_ = c.Error(err)
			return
		}
		xresult.SuccessHasData(c, "OK", &account{ID: id, Username: "ada"})
	})
	xapi.Put(e, "/typed/:id", users{}.Update)
	e.PUT("/direct/:id", func(c *gin.Context) {
		var in struct {
			Name string `binding:"required,min=3" json:"name"`
		}
		id, err := xsnowflake.ParseSnowflakeID(c.Param("id"))
		if err != nil {
			_ = c.Error(err)
			return
		}
		if xbind.Bind(c, &in).Data() != nil {
			xresult.SuccessHasData(c, "OK", &account{ID: id, Username: in.Name})
		}
	})
	return e
}

// request returns a function that serves one request.
func request(e *gin.Engine, method, path, body string) func() int {
	r := httptest.NewRequestWithContext(context.Background(), method, path, nil)
	r.Header.Set("Content-Type", "application/json")
	w := &discard{header: http.Header{}}
	reader := strings.NewReader(body)
	return func() int {
		reader.Reset(body)
		if body != "" {
			r.Body, r.ContentLength = io.NopCloser(reader), int64(len(body))
		}
		clear(w.header)
		e.ServeHTTP(w, r)
		return w.status
	}
}

type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

const validUser = `{"username":"ada","email":"ada@example.com","age":36}`

// measured are the requests that are compared, for a typed and for a direct handler.
var measured = []struct{ name, method, path, body string }{
	{"POST", http.MethodPost, "", validUser},
	{"GET", http.MethodGet, "/5", ""},
	{"PUT", http.MethodPut, "/5", `{"name":"ada"}`},
}

func BenchmarkHandle(b *testing.B) {
	e := newEngine(b)
	for _, tc := range measured {
		for _, kind := range []string{"typed", "direct"} {
			b.Run(tc.name+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				serve := request(e, tc.method, "/"+kind+tc.path, tc.body)
				for b.Loop() {
					if status := serve(); status != http.StatusOK {
						b.Fatal(status)
					}
				}
			})
		}
	}
}

// A typed handler needs at most two allocations more than a direct one.
func TestHandle_Allocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	e := newEngine(t)
	for _, tc := range measured {
		allocs := func(kind string) float64 {
			serve := request(e, tc.method, "/"+kind+tc.path, tc.body)
			if status := serve(); status != http.StatusOK {
				t.Errorf("%s of the %s handler: %d, want 200", tc.name, kind, status)
			}
			return testing.AllocsPerRun(200, func() { serve() })
		}
		if typed, direct := allocs("typed"), allocs("direct"); typed > direct+2 {
			t.Errorf("%s: %v allocations, want at most 2 more than the direct handler with %v",
				tc.name, typed, direct)
		}
	}
}
