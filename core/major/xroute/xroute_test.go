package xroute_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/core/major/xroute"
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

func newServer(middleware ...gin.HandlerFunc) *httptest.Server {
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.Use(middleware...)
	engine.NoRoute(xroute.NoRoute)
	engine.NoMethod(xroute.NoMethod)
	engine.GET("/item", func(c *gin.Context) { xresult.Success(c, "done") })
	engine.POST("/item", func(c *gin.Context) { xresult.Success(c, "done") })
	return httptest.NewServer(engine)
}

func TestNoRouteAndNoMethod(t *testing.T) {
	for name, middleware := range map[string][]gin.HandlerFunc{
		"bare gin":        nil,
		"Plinth's engine": {xhelper.Serve(xhelper.Config{}), xmiddle.ResponseMiddleware},
	} {
		server := newServer(middleware...)
		defer server.Close()
		for _, tc := range []struct {
			method, path, language string
			status                 int
			allow, output, message string
		}{
			{"GET", "/nowhere", "en", 404, "", "PAGE_NOT_FOUND", xerror.PageNotFound.Message("en")},
			{"PUT", "/nowhere", "zh", 404, "", "PAGE_NOT_FOUND", xerror.PageNotFound.Message("zh")},
			{
				"PUT", "/item", "en", 405, "GET, POST", "METHOD_NOT_ALLOWED",
				xerror.MethodNotAllowed.Message("en"),
			},
			{
				"OPTIONS", "/item", "zh", 405, "GET, POST", "METHOD_NOT_ALLOWED",
				xerror.MethodNotAllowed.Message("zh"),
			},
			{"HEAD", "/item", "en", 405, "GET, POST", "", ""},
			{"HEAD", "/nowhere", "en", 404, "", "", ""},
		} {
			t.Run(fmt.Sprint(name, " ", tc.method, tc.path), func(t *testing.T) {
				req, _ := http.NewRequestWithContext(t.Context(), tc.method, server.URL+tc.path,
					http.NoBody)
				req.Header.Set("Accept-Language", tc.language)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = res.Body.Close() }()
				var got struct{ Output, Message string }
				if err := json.NewDecoder(res.Body).Decode(&got); err != nil &&
					tc.method != http.MethodHead {
					t.Fatal(err)
				}
				if res.StatusCode != tc.status || res.Header.Get("Allow") != tc.allow ||
					got.Output != tc.output || got.Message != tc.message {
					t.Errorf("got %d, Allow %q, %+v; want %d, %q, %s",
						res.StatusCode, res.Header.Get("Allow"), got, tc.status, tc.allow,
						tc.output)
				}
				if res.ContentLength <= 0 {
					t.Errorf("Content-Length = %d", res.ContentLength)
				}
			})
		}
	}
}

func ExampleNoRoute() {
	engine := gin.New()
	engine.NoRoute(xroute.NoRoute)
	engine.NoMethod(xroute.NoMethod)
	engine.HandleMethodNotAllowed = true // package xreg sets it
	fmt.Println(len(engine.Routes()))
	// Output: 0
}
