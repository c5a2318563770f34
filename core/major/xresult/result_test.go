package xresult_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

type user struct {
	Name string `json:"name"`
}

func TestSuccess(t *testing.T) {
	t.Run("writes the envelope", func(t *testing.T) {
		for _, tc := range []struct {
			name    string
			config  xhelper.Config
			handler gin.HandlerFunc
			want    string
		}{
			{
				name:    "message only",
				handler: func(c *gin.Context) { xresult.Success(c, "done") },
				want:    `{"context":"id-1","output":"Success","code":200,"message":"done"}`,
			},
			{
				name: "with data",
				handler: func(c *gin.Context) {
					xresult.SuccessHasData(c, "found", user{Name: "<Ada>"})
				},
				want: `{"context":"id-1","output":"Success","code":200,"message":"found","data":{"name":"\u003cAda\u003e"}}`,
			},
			{
				name:    "nil data",
				handler: func(c *gin.Context) { xresult.SuccessHasData(c, "none", nil) },
				want:    `{"context":"id-1","output":"Success","code":200,"message":"none"}`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				tc.config.EnableInput = true
				w, _ := serve(t, tc.config, tc.handler, "X-Request-UUID", "id-1")
				if got := w.Body.String(); got != tc.want || w.Code != http.StatusOK {
					t.Errorf("got %d %s, want 200 %s", w.Code, got, tc.want)
				}
				if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
					t.Errorf("Content-Type = %q", got)
				}
			})
		}
	})

	t.Run("keeps a status below 300", func(t *testing.T) {
		for _, tc := range []struct {
			set  int
			want int
		}{{201, 201}, {202, 202}, {204, 200}, {205, 200}, {302, 200}, {404, 200}} {
			t.Run(fmt.Sprint(tc.set), func(t *testing.T) {
				w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
					c.Status(tc.set)
					xresult.Success(c, "done")
				})
				if w.Code != tc.want {
					t.Errorf("status = %d, want %d", w.Code, tc.want)
				}
			})
		}
	})
}

func TestResponse_Overhead(t *testing.T) {
	for _, tc := range []struct {
		name   string
		config xhelper.Config
		field  string
		want   bool
	}{
		{name: "plinth", field: "overhead", want: false},
		{
			name: "plinth in debug mode", config: xhelper.Config{Debug: true}, field: "overhead",
			want: true,
		},
		{
			name: "java", config: xhelper.Config{Profile: xbase.ProfileJava}, field: "duration",
			want: true,
		},
	} {
		for _, handler := range []gin.HandlerFunc{
			func(c *gin.Context) { xresult.Success(c, "done") },
			func(c *gin.Context) { xresult.Error(c, xerror.NotFound, "", nil) },
		} {
			t.Run(tc.name, func(t *testing.T) {
				w, _ := serve(t, tc.config, handler)
				if _, got := decode(t, w.Body.String())[tc.field]; got != tc.want {
					t.Errorf("has %s = %t, want %t: %s", tc.field, got, tc.want, w.Body)
				}
			})
		}
	}
}

func TestError(t *testing.T) {
	t.Run("writes the envelope in the language of the client", func(t *testing.T) {
		handler := func(c *gin.Context) { xresult.Error(c, xerror.NotExist, "no user 7", []int{7}) }
		for _, tc := range []struct {
			language string
			want     string
		}{
			{language: "en", want: xerror.NotExist.Message("en")},
			{language: "zh-CN,zh;q=0.9,en;q=0.8", want: xerror.NotExist.Message("zh")},
		} {
			t.Run(tc.language, func(t *testing.T) {
				w, _ := serve(t, xhelper.Config{}, handler, "Accept-Language", tc.language)
				wantFields(t, w.Body.String(), map[string]any{
					"output": "NOT_EXIST", "code": 40000.0, "message": tc.want,
					"error_message": "no user 7", "context": w.Header().Get("X-Request-UUID"),
				})
				if w.Code != http.StatusBadRequest {
					t.Errorf("status = %d, want 400", w.Code)
				}
				if got := fmt.Sprint(decode(t, w.Body.String())["data"]); got != "[7]" {
					t.Errorf("data = %s, want [7]", got)
				}
				if got := w.Header().Get("Vary"); got != "Accept, Accept-Language" {
					t.Errorf("Vary = %q", got)
				}
			})
		}
	})

	t.Run("uses the language of the client without middleware", func(t *testing.T) {
		engine := gin.New()
		engine.GET("/", func(c *gin.Context) { xresult.Error(c, xerror.Forbidden, "", nil) })
		w := get(engine, "Accept-Language", "zh")
		wantFields(t, w.Body.String(), map[string]any{
			"output": "FORBIDDEN", "context": "", "message": xerror.Forbidden.Message("zh"),
		})
	})

	t.Run("writes codes and names of the Java profile", func(t *testing.T) {
		w, _ := serve(t, xhelper.Config{Profile: xbase.ProfileJava}, func(c *gin.Context) {
			xresult.Error(c, xerror.ParameterError, "name", nil)
		})
		wantFields(t, w.Body.String(), map[string]any{
			"output": "ParameterError", "code": 40002.0, "errorMessage": "name", "data": nil,
		})
	})
}

func TestAbortError(t *testing.T) {
	engine := gin.New()
	engine.Use(func(c *gin.Context) { xresult.AbortError(c, xerror.Forbidden, "", nil) })
	engine.GET("/", func(*gin.Context) { t.Error("handler was called") })
	if w := get(engine); w.Code != http.StatusForbidden {
		t.Errorf("status = %d, want 403", w.Code)
	}
}

// The gin context has no request.
func TestResponse_NoRequest(t *testing.T) {
	for name, respond := range map[string]func(*gin.Context){
		"success": func(c *gin.Context) { xresult.Success(c, "done") },
		"error":   func(c *gin.Context) { xresult.Error(c, xerror.NotFound, "", nil) },
		"stream":  func(c *gin.Context) { xresult.Stream(c, func(func(int, error) bool) {}) },
	} {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		respond(c)
		if !c.Writer.Written() {
			t.Errorf("%s wrote no response", name)
		}
		before := w.Body.Len()
		respond(c)
		if w.Body.Len() != before {
			t.Errorf("%s wrote two responses", name)
		}
	}
}

func TestResponse_Second(t *testing.T) {
	w, log := serve(t, xhelper.Config{}, func(c *gin.Context) {
		xresult.Success(c, "first")
		xresult.Success(c, "second")
		xresult.Error(c, xerror.NotFound, "third", nil)
		xresult.Stream(c, func(func(int, error) bool) { t.Error("iterator was called") })
	})
	wantFields(t, w.Body.String(), map[string]any{"message": "first"})
	if got := strings.Count(log.String(), "response already written"); got != 3 {
		t.Errorf("logged %d times, want 3: %s", got, log)
	}
}

func TestResponse_UnencodableData(t *testing.T) {
	for name, respond := range map[string]gin.HandlerFunc{
		"success": func(c *gin.Context) {
			xresult.SuccessHasData(c, "found", map[string]any{"a": 1, "b": math.NaN()})
		},
		"error": func(c *gin.Context) { xresult.Error(c, xerror.NotFound, "", make(chan int)) },
	} {
		for _, accept := range []string{"*/*", "application/problem+json"} {
			t.Run(name+" "+accept, func(t *testing.T) {
				w, log := serve(t, xhelper.Config{}, respond, "Accept", accept)
				wantFields(t, w.Body.String(),
					map[string]any{"output": "SERIALIZE_ERROR", "code": 50010.0})
				if w.Code != http.StatusInternalServerError {
					t.Errorf("status = %d, want 500", w.Code)
				}
				if !strings.Contains(log.String(), "unsupported") {
					t.Errorf("log does not contain the cause: %s", log)
				}
				if name == "error" && !strings.Contains(log.String(), "NOT_FOUND") {
					t.Errorf("log does not contain the original error: %s", log)
				}
				if got := strings.Count(log.String(), `"level":"error"`); got != 1 {
					t.Errorf("%d lines at ERROR, want 1: %s", got, log)
				}
			})
		}
	}
}

func TestSuccessHasData_Log(t *testing.T) {
	_, log := serve(t, xhelper.Config{Debug: true}, func(c *gin.Context) {
		xresult.SuccessHasData(c, "found", user{Name: "confidential"})
	})
	if strings.Contains(log.String(), "confidential") {
		t.Errorf("log contains the data: %s", log)
	}
}

func ExampleSuccessHasData() {
	engine := gin.New()
	engine.GET("/", func(c *gin.Context) {
		xresult.SuccessHasData(c, "found", map[string]string{"name": "Ada"})
	})
	fmt.Println(get(engine).Body)
	// Output: {"context":"","output":"Success","code":200,"message":"found","data":{"name":"Ada"}}
}

func ExampleError() {
	engine := gin.New()
	engine.GET("/", func(c *gin.Context) {
		xresult.Error(c, xerror.UserNotFound, "no user 7", nil)
	})
	w := get(engine)
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 401 application/json; charset=utf-8
}
