package snippets_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func Example_xhelper() {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xhelper.Serve(xhelper.Config{EnableInput: true, QuietURLs: []string{"/healthz"}}))
	engine.GET("/ping", func(c *gin.Context) { xresult.Success(c, "pong") })

	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(xhelperQuiet(), http.MethodGet, "/ping", nil)
	r.Header.Set("X-Request-UUID", "id-1")
	engine.ServeHTTP(w, r)
	fmt.Println(w.Header().Get("X-Request-UUID"), w.Body)
	// Output: id-1 {"context":"id-1","output":"Success","code":200,"message":"pong"}
}

// xhelperQuiet returns a context whose log lines are discarded.
func xhelperQuiet() context.Context {
	engine, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		panic(err)
	}
	return xlog.NewContext(context.Background(), engine)
}
