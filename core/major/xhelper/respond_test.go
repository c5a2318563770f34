package xhelper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

var errUnknown = errors.New("pq: relation users has changed")

func TestServe_ErrorResponse(t *testing.T) {
	t.Run("uses the last error", func(t *testing.T) {
		for _, tc := range []struct {
			name    string
			handler gin.HandlerFunc
			status  int
			want    string
		}{
			{
				name: "an error with a code", status: 400, want: "EXISTED",
				handler: func(c *gin.Context) {
					_ = c.Error(xerror.New(xerror.Existed, "taken"))
				},
			},
			{
				name: "the last of two", status: 404, want: "NOT_FOUND",
				handler: func(c *gin.Context) {
					_ = c.Error(xerror.New(xerror.Existed, ""))
					_ = c.Error(xerror.New(xerror.NotFound, ""))
				},
			},
			{
				name: "a wrapped error", status: 404, want: "NOT_FOUND",
				handler: func(c *gin.Context) {
					_ = c.Error(fmt.Errorf("load: %w", xerror.New(xerror.NotFound, "")))
				},
			},
			{name: "a bare code", status: 403, want: "FORBIDDEN", handler: func(c *gin.Context) {
				_ = c.Error(xerror.Forbidden)
			}},
			{
				name: "an error of package context", status: 504, want: "GATEWAY_TIMEOUT",
				handler: func(c *gin.Context) {
					_ = c.Error(context.DeadlineExceeded)
				},
			},
			{
				name: "an unknown error", status: 500, want: "SERVER_INTERNAL_ERROR",
				handler: func(c *gin.Context) {
					_ = c.Error(errUnknown)
				},
			},
			{
				name: "a nil error is ignored", status: 404, want: "NOT_FOUND",
				handler: func(c *gin.Context) {
					_ = c.Error(xerror.New(xerror.NotFound, ""))
					_ = c.Error((*xerror.Error)(nil))
				},
			},
			{
				name: "an unknown error with a status", status: 400, want: "BAD_REQUEST",
				handler: func(c *gin.Context) {
					_ = c.AbortWithError(http.StatusBadRequest, errUnknown)
				},
			},
			{
				name:   "an unknown error with a status without a code",
				status: 412, want: "BAD_REQUEST",
				handler: func(c *gin.Context) {
					c.Status(http.StatusPreconditionFailed)
					_ = c.Error(errUnknown)
				},
			},
			{
				name: "an error with a code and another status", status: 404, want: "NOT_FOUND",
				handler: func(c *gin.Context) {
					_ = c.AbortWithError(http.StatusBadRequest, xerror.New(xerror.NotFound, ""))
				},
			},
			{
				name:   "an internal error with a code and a status",
				status: 500, want: "SERVER_INTERNAL_ERROR",
				handler: func(c *gin.Context) {
					_ = c.AbortWithError(http.StatusBadRequest,
						xerror.Wrap(xerror.ServerInternalError, "", errUnknown))
				},
			},
			{
				name: "after an error response", status: 409, want: "CONFLICT",
				handler: func(c *gin.Context) {
					xresult.Error(c, xerror.Conflict, "", nil)
					_ = c.Error(errUnknown)
				},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				engine, _ := newEngine(t, xhelper.Config{})
				engine.GET("/", tc.handler)
				w := do(engine, http.MethodGet, "/")
				wantOutput(t, w, tc.status, tc.want)
				if strings.Contains(w.Body.String(), "relation") {
					t.Errorf("body contains the cause: %s", w.Body)
				}
			})
		}
	})

	t.Run("uses an error of middleware for an unknown path", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{}, func(c *gin.Context) {
			_ = c.Error(errUnknown)
			c.Abort()
		})
		wantOutput(t, do(engine, http.MethodGet, "/nowhere"), http.StatusInternalServerError,
			"SERVER_INTERNAL_ERROR")
	})

	t.Run("logs the cause of a server error once", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		engine.GET("/", func(c *gin.Context) { _ = c.Error(errUnknown) })
		do(engine, http.MethodGet, "/")
		if got := strings.Count(log.String(), "relation users"); got != 1 {
			t.Errorf("log contains the cause %d times, want once: %s", got, log)
		}
	})

	t.Run("uses the language of the client", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.GET("/", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotExist, "")) })
		for language, want := range map[string]string{
			"en":           xerror.NotExist.Message("en"),
			"zh-CN":        xerror.NotExist.Message("zh"),
			"":             xerror.NotExist.Message("en"),
			"zh;q=0.2, en": xerror.NotExist.Message("en"),
		} {
			w := do(engine, http.MethodGet, "/", "Accept-Language", language)
			if got := decode(t, w.Body.String())["message"]; got != want {
				t.Errorf("%q: message = %v, want %s", language, got, want)
			}
		}
	})
}

func TestServe_BareStatus(t *testing.T) {
	t.Run("writes the envelope for an error status", func(t *testing.T) {
		for _, tc := range []struct {
			status int
			code   int
			want   string
		}{
			{400, 400, "BAD_REQUEST"},
			{401, 401, "UNAUTHORIZED"},
			{402, 402, "BAD_REQUEST"},
			{403, 403, "FORBIDDEN"},
			{404, 404, "NOT_FOUND"},
			{405, 405, "METHOD_NOT_ALLOWED"},
			{412, 412, "BAD_REQUEST"},
			{415, 415, "UNSUPPORTED_MEDIA"},
			{429, 429, "TOO_MANY_REQUESTS"},
			{500, 500, "SERVER_INTERNAL_ERROR"},
			{501, 501, "SERVER_INTERNAL_ERROR"},
			{502, 502, "GATEWAY_ERROR"},
			{503, 503, "SERVICE_UNAVAILABLE"},
			{599, 599, "SERVER_INTERNAL_ERROR"},
			{600, 500, "SERVER_INTERNAL_ERROR"},
			{4040, 500, "SERVER_INTERNAL_ERROR"},
			{4, 500, "SERVER_INTERNAL_ERROR"},
		} {
			for name, set := range map[string]func(*gin.Context){
				"Status":          func(c *gin.Context) { c.Status(tc.status) },
				"AbortWithStatus": func(c *gin.Context) { c.AbortWithStatus(tc.status) },
			} {
				t.Run(fmt.Sprint(name, tc.status), func(t *testing.T) {
					engine, _ := newEngine(t, xhelper.Config{})
					engine.GET("/", set)
					wantOutput(t, do(engine, http.MethodGet, "/"), tc.code, tc.want)
				})
			}
		}
	})

	t.Run("handlers see the response as written", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.GET("/", func(c *gin.Context) {
			c.AbortWithStatus(http.StatusForbidden)
			c.Status(http.StatusOK) // no effect, as in gin
			if !c.Writer.Written() || c.Writer.Size() != 0 ||
				c.Writer.Status() != http.StatusForbidden {
				t.Errorf("Written %t, Size %d, Status %d",
					c.Writer.Written(), c.Writer.Size(), c.Writer.Status())
			}
		})
		wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusForbidden, "FORBIDDEN")
	})

	t.Run("does not change an error status with a body", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.GET("/json", func(c *gin.Context) {
			c.AbortWithStatusJSON(http.StatusConflict, gin.H{"mine": true})
		})
		engine.GET("/std", gin.WrapF(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "mine", http.StatusTeapot)
		}))
		engine.GET("/flush", func(c *gin.Context) {
			c.AbortWithStatus(http.StatusBadGateway)
			c.Writer.Flush()
		})
		for path, want := range map[string]string{
			"/json":  `409 {"mine":true}`,
			"/std":   "418 mine\n",
			"/flush": "502 ",
		} {
			w := do(engine, http.MethodGet, path)
			if got := fmt.Sprint(w.Code, " ", w.Body); got != want {
				t.Errorf("%s: got %q, want %q", path, got, want)
			}
		}
	})

	t.Run("does not change other statuses without a body", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		for _, status := range []int{201, 202, 204, 205, 301, 303, 304, 307} {
			engine.GET(fmt.Sprint("/", status), func(c *gin.Context) { c.Status(status) })
			engine.GET(fmt.Sprint("/abort/", status),
				func(c *gin.Context) { c.AbortWithStatus(status) })
		}
		engine.GET("/empty", func(c *gin.Context) { c.Writer.WriteHeaderNow() })
		engine.GET("/redirect", func(c *gin.Context) { c.Redirect(http.StatusSeeOther, "/204") })
		engine.HEAD("/head", func(c *gin.Context) { c.Header("X-Count", "7") })
		s := listen(t, engine)
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
		check := func(method, path string, want int) {
			t.Helper()
			req, _ := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != want || len(body) > 0 && path != "/redirect" {
				t.Errorf("%s %s: got %d %q, want an empty %d",
					method, path, res.StatusCode, body, want)
			}
		}
		for _, status := range []int{201, 202, 204, 205, 301, 303, 304, 307} {
			check(http.MethodGet, fmt.Sprint("/", status), status)
			check(http.MethodGet, fmt.Sprint("/abort/", status), status)
		}
		check(http.MethodGet, "/empty", http.StatusOK)
		check(http.MethodGet, "/redirect", http.StatusSeeOther)
		check(http.MethodHead, "/head", http.StatusOK)
		client.CloseIdleConnections()
		if strings.Contains(log.String(), "wrote no response") {
			t.Errorf("log: %s", log)
		}
	})
}

func TestServe_NoResponse(t *testing.T) {
	t.Run("is a DEVELOPER_ERROR", func(t *testing.T) {
		for name, handler := range map[string]gin.HandlerFunc{
			"nothing":         func(*gin.Context) {},
			"abort":           func(c *gin.Context) { c.Abort() },
			"a status of 200": func(c *gin.Context) { c.Status(http.StatusOK) },
		} {
			t.Run(name, func(t *testing.T) {
				engine, log := newEngine(t, xhelper.Config{})
				engine.GET("/", handler)
				wantOutput(t, do(engine, http.MethodGet, "/"), http.StatusInternalServerError,
					"DEVELOPER_ERROR")
				got := log.with(t, "request failed")
				if len(got) != 1 || got[0]["level"] != "error" ||
					!strings.Contains(fmt.Sprint(got[0]["error"]), "xhelper_test.") {
					t.Errorf("logged %v, want one line at ERROR with the handler", got)
				}
			})
		}
	})

	t.Run("is the error of the canceled context", func(t *testing.T) {
		for name, tc := range map[string]struct {
			deadline time.Time
			status   int
			want     string
		}{
			"deadline": {
				deadline: time.Unix(0, 0), status: http.StatusGatewayTimeout,
				want: "GATEWAY_TIMEOUT",
			},
			"cancel": {
				deadline: time.Now().Add(time.Hour), status: http.StatusBadRequest,
				want: "CANCELED",
			},
		} {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithDeadline(t.Context(), tc.deadline)
				engine, _ := newEngine(t, xhelper.Config{})
				engine.GET("/", func(*gin.Context) { cancel() })
				wantOutput(t, send(engine, httptest.NewRequestWithContext(ctx, http.MethodGet, "/",
					http.NoBody)), tc.status, tc.want)
			})
		}
	})
}

func TestServe_StartedResponse(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		c.String(http.StatusOK, `{"partly":`)
		_ = c.Error(errUnknown)
	})
	w := do(engine, http.MethodGet, "/")
	if got := w.Body.String(); got != `{"partly":` || w.Code != http.StatusOK {
		t.Errorf("got %d %q", w.Code, got)
	}
	if got := log.with(t, "error after the response started"); len(got) != 1 {
		t.Errorf("logged %v, want one line", got)
	}
}

func TestServe_UnknownRoute(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	engine.GET("/here", success)
	wantOutput(t, do(engine, http.MethodGet, "/nowhere"), http.StatusNotFound, "PAGE_NOT_FOUND")
	w := do(engine, http.MethodPost, "/here")
	wantOutput(t, w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	if got := w.Header().Get("Allow"); got != "GET" {
		t.Errorf("Allow = %q, want GET", got)
	}
}

func TestRequestContext_FailureLog(t *testing.T) {
	ctx, log := capture(t)
	engine := gin.New()
	engine.Use(xhelper.RequestContext(xhelper.Config{Base: ctx}))
	engine.GET("/", func(c *gin.Context) {
		xresult.Fail(c, xerror.New(xerror.ServerInternalError, ""))
	})
	do(engine, http.MethodGet, "/")
	if got := log.with(t, "request failed"); len(got) != 1 || got[0]["level"] != "error" {
		t.Errorf("logged %v, want one line at ERROR", got)
	}
}
