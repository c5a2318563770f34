package xmiddle_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	log, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		panic(err)
	}
	xlog.SetDefault(log)
	os.Exit(m.Run())
}

// newEngine returns an engine like Plinth's with the middleware and the routes /item and
// /other.
func newEngine(config xhelper.Config, middleware ...gin.HandlerFunc) *gin.Engine {
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.HandleMethodNotAllowed = true
	engine.Use(xhelper.Serve(config))
	engine.Use(middleware...)
	engine.GET("/item", success)
	engine.PUT("/item", success)
	engine.GET("/other", success)
	engine.OPTIONS("/other", func(c *gin.Context) { c.String(http.StatusOK, "mine") })
	return engine
}

func success(c *gin.Context) { xresult.Success(c, "done") }

func do(engine http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, req)
	return w
}

func wantOutput(t *testing.T, w *httptest.ResponseRecorder, status int, output string) {
	t.Helper()
	var got struct{ Output string }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("body %q: %v", w.Body, err)
	}
	if got.Output != output || w.Code != status {
		t.Errorf("got %d %s, want %d %s", w.Code, got.Output, status, output)
	}
}
