package xresult_test

import (
	"errors"
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

func TestSuccessIsTheEnvelope(t *testing.T) {
	for _, tc := range []struct {
		name    string
		config  xhelper.Config
		handler gin.HandlerFunc
		want    string
	}{
		{
			name:    "message alone",
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
}

func TestSuccessKeepsAStatusBelow300(t *testing.T) {
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
}

func TestOverheadIsForDebugModeAndForTheJavaProfile(t *testing.T) {
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
					t.Errorf("%s is there = %t, want %t: %s", tc.field, got, tc.want, w.Body)
				}
			})
		}
	}
}

func TestErrorIsTheEnvelopeInTheClientsLanguage(t *testing.T) {
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
				"output": "NOT_EXIST",
				"code":   40000.0, "message": tc.want, "error_message": "no user 7",
				"context": w.Header().Get("X-Request-UUID"),
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
}

func TestErrorWithoutAnyMiddlewareStillSpeaksTheClientsLanguage(t *testing.T) {
	engine := gin.New()
	engine.GET("/", func(c *gin.Context) { xresult.Error(c, xerror.Forbidden, "", nil) })
	w := get(engine, "Accept-Language", "zh")
	wantFields(t, w.Body.String(), map[string]any{
		"output": "FORBIDDEN", "context": "",
		"message": xerror.Forbidden.Message("zh"),
	})
}

func TestAbortErrorStopsTheChain(t *testing.T) {
	engine := gin.New()
	engine.Use(func(c *gin.Context) { xresult.AbortError(c, xerror.Forbidden, "", nil) })
	engine.GET("/", func(*gin.Context) { t.Error("the handler ran") })
	if w := get(engine); w.Code != http.StatusForbidden {
		t.Errorf("status = %d, want 403", w.Code)
	}
}

func TestJavaProfileWritesItsNumbersAndNames(t *testing.T) {
	w, _ := serve(t, xhelper.Config{Profile: xbase.ProfileJava}, func(c *gin.Context) {
		xresult.Error(c, xerror.ParameterError, "name", nil)
	})
	wantFields(t, w.Body.String(), map[string]any{
		"output": "ParameterError",
		"code":   40002.0, "errorMessage": "name", "data": nil,
	})
}

func TestFailTellsTheClientNothingOfTheCause(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.7:5432: SELECT * FROM users")
	for _, accept := range []string{"application/json", "application/problem+json"} {
		t.Run(accept, func(t *testing.T) {
			w, log := serve(t, xhelper.Config{}, func(c *gin.Context) { xresult.Fail(c, secret) },
				"Accept", accept)
			wantFields(t, w.Body.String(),
				map[string]any{"output": "SERVER_INTERNAL_ERROR", "code": 50000.0})
			if strings.Contains(w.Body.String(), "10.0.0.7") ||
				strings.Contains(w.Body.String(), "SELECT") {
				t.Errorf("the body tells the cause: %s", w.Body)
			}
			if !strings.Contains(log.String(), "10.0.0.7") {
				t.Errorf("the log does not tell the cause: %s", log)
			}
		})
	}
}

func TestProblemDetailsAreForWhoAsksForThem(t *testing.T) {
	const problem, envelope = "application/problem+json", "application/json; charset=utf-8"
	for _, tc := range []struct {
		name   string
		accept []string
		want   string
	}{
		{name: "no header", want: envelope},
		{name: "anything", accept: []string{"*/*"}, want: envelope},
		{name: "any application type", accept: []string{"application/*"}, want: envelope},
		{name: "json", accept: []string{"application/json"}, want: envelope},
		{name: "problem", accept: []string{"application/problem+json"}, want: problem},
		{name: "problem in capitals", accept: []string{"Application/Problem+JSON"}, want: problem},
		{
			name: "both", accept: []string{"application/json, application/problem+json"},
			want: problem,
		},
		{
			name:   "both on two lines",
			accept: []string{"application/json", "application/problem+json"}, want: problem,
		},
		{
			name:   "json preferred",
			accept: []string{"application/problem+json;q=0.5, application/json"}, want: envelope,
		},
		{
			name:   "problem preferred",
			accept: []string{"application/problem+json;q=0.9, application/json;q=0.4"},
			want:   problem,
		},
		{
			name:   "anything preferred",
			accept: []string{"application/problem+json;q=0.1,*/*"}, want: envelope,
		},
		{name: "problem refused", accept: []string{"application/problem+json;q=0"}, want: envelope},
		{
			name:   "zero with decimals",
			accept: []string{"application/problem+json;q=0.000"}, want: envelope,
		},
		{
			name:   "malformed weight",
			accept: []string{"application/problem+json;q=abc"}, want: envelope,
		},
		{
			name:   "weight over one",
			accept: []string{"application/problem+json;q=1.5, application/json"}, want: problem,
		},
		{
			name:   "other parameters",
			accept: []string{`application/problem+json; charset=utf-8; Q=1`}, want: problem,
		},
		{name: "nonsense", accept: []string{";;,,q=1,/"}, want: envelope},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var header []string
			for _, line := range tc.accept {
				header = append(header, "Accept", line)
			}
			w, _ := serve(t, xhelper.Config{},
				func(c *gin.Context) { xresult.Error(c, xerror.NotFound, "", nil) }, header...)
			if got := w.Header().Get("Content-Type"); got != tc.want {
				t.Errorf("Content-Type = %q, want %q", got, tc.want)
			}
			if w.Code != http.StatusNotFound {
				t.Errorf("status = %d, want 404", w.Code)
			}
		})
	}
}

func TestFailStatusIsAlsoInTheProblem(t *testing.T) {
	w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
		xresult.FailStatus(c, http.StatusPreconditionFailed, xerror.New(xerror.BadRequest, ""))
	}, "Accept", "application/problem+json")
	wantFields(t, w.Body.String(), map[string]any{
		"status": 412.0, "title": "Precondition Failed",
		"output": "BAD_REQUEST",
	})
	if w.Code != http.StatusPreconditionFailed {
		t.Errorf("status = %d, want 412", w.Code)
	}
}

func TestFailStatusOutsideTheErrorsIsTheCodesOwn(t *testing.T) {
	for _, status := range []int{-1, 0, 99, 200, 399, 600, 40400} {
		w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
			xresult.FailStatus(c, status, xerror.New(xerror.NotFound, ""))
		})
		if w.Code != http.StatusNotFound {
			t.Errorf("FailStatus(%d): status = %d, want 404", status, w.Code)
		}
	}
}

func TestFailWithoutAnErrorIsNoAnswer(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	xresult.Fail(c, nil)
	xresult.Fail(c, (*xerror.Error)(nil))
	if c.Writer.Written() {
		t.Error("something was written")
	}
}

// A context that was made by hand has no request.
func TestAnswersNeedNoRequest(t *testing.T) {
	for name, answer := range map[string]func(*gin.Context){
		"success": func(c *gin.Context) { xresult.Success(c, "done") },
		"error":   func(c *gin.Context) { xresult.Error(c, xerror.NotFound, "", nil) },
		"stream":  func(c *gin.Context) { xresult.Stream(c, func(func(int, error) bool) {}) },
	} {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		answer(c)
		if !c.Writer.Written() {
			t.Errorf("%s: nothing was written", name)
		}
		before := w.Body.Len()
		answer(c)
		if w.Body.Len() != before {
			t.Errorf("%s: was written twice", name)
		}
	}
}

func TestASecondAnswerIsDroppedAndLogged(t *testing.T) {
	w, log := serve(t, xhelper.Config{}, func(c *gin.Context) {
		xresult.Success(c, "first")
		xresult.Success(c, "second")
		xresult.Error(c, xerror.NotFound, "third", nil)
		xresult.Stream(c, func(func(int, error) bool) { t.Error("the iterator was asked") })
	})
	wantFields(t, w.Body.String(), map[string]any{"message": "first"})
	if got := strings.Count(log.String(), "a second answer was dropped"); got != 3 {
		t.Errorf("logged %d times, want 3: %s", got, log)
	}
}

func TestDataThatCannotBeEncodedIsAProperError(t *testing.T) {
	for name, answer := range map[string]gin.HandlerFunc{
		"success": func(c *gin.Context) {
			xresult.SuccessHasData(c, "found", map[string]any{"a": 1, "b": math.NaN()})
		},
		"error": func(c *gin.Context) { xresult.Error(c, xerror.NotFound, "", make(chan int)) },
	} {
		for _, accept := range []string{"*/*", "application/problem+json"} {
			t.Run(name+" "+accept, func(t *testing.T) {
				w, log := serve(t, xhelper.Config{}, answer, "Accept", accept)
				wantFields(t, w.Body.String(),
					map[string]any{"output": "SERIALIZE_ERROR", "code": 50010.0})
				if w.Code != http.StatusInternalServerError {
					t.Errorf("status = %d, want 500", w.Code)
				}
				if !strings.Contains(log.String(), "unsupported") {
					t.Errorf("the log does not say why: %s", log)
				}
				if name == "error" && !strings.Contains(log.String(), "NOT_FOUND") {
					t.Errorf("the log does not name the error whose data it is: %s", log)
				}
				if got := strings.Count(log.String(), `"level":"error"`); got != 1 {
					t.Errorf("%d lines at ERROR, want 1: %s", got, log)
				}
			})
		}
	}
}

func TestErrorsTakeBackWhatWasSaidOfAnotherAnswer(t *testing.T) {
	w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
		c.Header("Content-Length", "3")
		c.Header("Content-Disposition", "attachment")
		c.Header("ETag", `"1"`)
		c.Header("Last-Modified", "yesterday")
		c.Header("Cache-Control", "max-age=60")
		c.Header("X-Kept", "yes")
		xresult.Error(c, xerror.NotFound, "", nil)
	})
	for header, want := range map[string]string{
		"Content-Length": "", "Content-Disposition": "", "ETag": "", "Last-Modified": "",
		"Cache-Control": "no-store", "X-Kept": "yes",
	} {
		if got := w.Header().Get(header); got != want {
			t.Errorf("%s = %q, want %q", header, got, want)
		}
	}
}

func TestResponseDataIsNeverLogged(t *testing.T) {
	_, log := serve(t, xhelper.Config{Debug: true}, func(c *gin.Context) {
		xresult.SuccessHasData(c, "found", user{Name: "confidential"})
	})
	if strings.Contains(log.String(), "confidential") {
		t.Errorf("the log holds the data: %s", log)
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

func TestWhatIsAddedToVaryOfOneErrorStaysThere(t *testing.T) {
	for want, handler := range map[string]gin.HandlerFunc{
		"[Accept, Accept-Language Cookie]": func(c *gin.Context) {
			xresult.Error(c, xerror.NotExist, "", nil)
			c.Writer.Header().Add("Vary", "Cookie")
		},
		"[Origin Accept, Accept-Language]": func(c *gin.Context) {
			c.Header("Vary", "Origin")
			xresult.Error(c, xerror.NotExist, "", nil)
		},
		"[Accept, Accept-Language]": func(c *gin.Context) {
			xresult.Error(c, xerror.NotExist, "", nil)
		},
	} {
		w, _ := serve(t, xhelper.Config{}, handler)
		if got := fmt.Sprint(w.Header().Values("Vary")); got != want {
			t.Errorf("Vary = %s, want %s", got, want)
		}
	}
}
