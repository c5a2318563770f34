package xbind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xbind"
)

func TestBinder_Data_ContentType(t *testing.T) {
	for _, tc := range []struct {
		name, contentType, encoding string
		want                        bool
	}{
		{"json", "application/json", "", true},
		{"charset", "application/json; charset=utf-8", "", true},
		{"charset in capitals", `Application/JSON;charset="UTF-8"`, "", true},
		{"structured suffix", "application/merge-patch+json", "", true},
		{"identity", "application/json", "identity", true},
		{"missing", "", "", false},
		{"form", "application/x-www-form-urlencoded", "", false},
		{"text", "text/plain", "", false},
		{"text suffix", "text/x+json", "", false},
		{"similar name", "application/jsonx", "", false},
		{"malformed", "application/json; charset", "", false},
		{"other charset", "application/json; charset=gbk", "", false},
		{"compressed", "application/json", "gzip", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := request(`{"name":"a"}`,
				"Content-Type", tc.contentType, "Content-Encoding", tc.encoding)
			got := xbind.Bind(c, &order{}).Data() != nil
			if got != tc.want {
				t.Fatalf("accepted: %v, want %v", got, tc.want)
			}
			if !got && reported(t, c).GetErrorCode() != xerror.UnsupportedMedia {
				t.Errorf("reported %v, want UNSUPPORTED_MEDIA", c.Errors)
			}
		})
	}
}

func TestBind_Options(t *testing.T) {
	all := xbind.Strictness{
		AllowDuplicateKeys: true, AllowTrailingData: true, AllowAnyContentType: true,
	}
	for _, tc := range []struct {
		name, body string
		option     xbind.Option
		want       string
	}{
		{
			"unknown field rejected", `{"name":"a","items":[{"no":1}]}`,
			xbind.DisallowUnknownFields(), "items[0].no:unknown",
		},
		{
			"unsafe name of an unknown field hidden", `{"name":"a","` + secret + `":1}`,
			xbind.DisallowUnknownFields(), "*:unknown",
		},
		{
			"known fields accepted",
			`{"NAME":"a","page":1,"any":{"x":1},"raw":{"x":1},"items":[{"tags":{"x":1}}]}`,
			xbind.DisallowUnknownFields(), "",
		},
		{"unknown field allowed", `{"name":"a","x":1}`, xbind.AllowUnknownFields(), ""},
		{
			"duplicates allowed", `{"name":"a","name":"b","x":1,"x":2}`,
			xbind.WithStrictness(all), "",
		},
		{"trailing data allowed", `{"name":"a"} trailing`, xbind.WithStrictness(all), ""},
		{"size above the limit", `{"name":"a"}`, xbind.WithMaxBytes(11), "larger than 11 bytes"},
		{"size at the limit", `{"name":"a"}`, xbind.WithMaxBytes(12), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := request(tc.body)
			got := xbind.Bind(c, &order{}, tc.option).Data()
			if tc.want == "" {
				if got == nil {
					t.Fatalf("rejected: %v", c.Errors)
				}
				return
			}
			e := reported(t, c)
			if failedFields(e) != tc.want &&
				!strings.Contains(string(e.GetErrorMessage()), tc.want) {
				t.Errorf("reported %v with %q, want %q", e, failedFields(e), tc.want)
			}
		})
	}
}

func TestUse(t *testing.T) {
	e := gin.New()
	handler := func(opts ...xbind.Option) gin.HandlerFunc {
		return func(c *gin.Context) {
			if xbind.Bind(c, &order{}, opts...).Data() == nil {
				c.Status(xerror.From(c.Errors[0].Err).GetErrorCode().Status())
			}
		}
	}
	e.POST("/before", handler())
	e.Use(xbind.Use(xbind.Strictness{DisallowUnknownFields: true}))
	e.POST("/strict", handler())
	e.POST("/call", handler(xbind.AllowUnknownFields()))
	e.Group("/g", xbind.Use(xbind.Strictness{})).POST("/inner", handler())
	for path, want := range map[string]int{
		"/before": 200, "/strict": 400, "/call": 200, "/g/inner": 200,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path,
			strings.NewReader(`{"name":"a","x":1}`))
		r.Header.Set("Content-Type", "application/json")
		e.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
}

// chunked is a body of unknown length that returns small chunks.
type chunked struct{ io.Reader }

func (c chunked) Read(p []byte) (int, error) { return c.Reader.Read(p[:min(len(p), 7)]) }

func (chunked) Close() error { return nil }

func TestWithMaxBytes(t *testing.T) {
	body := `{"name":"a","raw":"` + strings.Repeat("x", 100_000) + `"}`
	for _, tc := range []struct {
		name   string
		length int64
		wrap   func(*gin.Context)
		opts   []xbind.Option
		want   *xerror.ErrorCode
	}{
		{"no limit", int64(len(body)), nil, nil, nil},
		{"no limit, length unknown", -1, nil, nil, nil},
		{
			"WithMaxBytes, length known", int64(len(body)), nil,
			[]xbind.Option{xbind.WithMaxBytes(1000)},
			xerror.PayloadTooLarge,
		},
		{
			"WithMaxBytes, length unknown", -1, nil,
			[]xbind.Option{xbind.WithMaxBytes(1000)},
			xerror.PayloadTooLarge,
		},
		{"server limit", -1, func(c *gin.Context) {
			c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 1000)
		}, nil, xerror.PayloadTooLarge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := request("")
			c.Request.Body, c.Request.ContentLength = chunked{strings.NewReader(body)}, tc.length
			if tc.wrap != nil {
				tc.wrap(c)
			}
			got := xbind.Bind(c, &order{}, tc.opts...).Data()
			if tc.want == nil {
				if got == nil || len(got.Raw) != 100_002 {
					t.Errorf("rejected: %v", c.Errors)
				}
				return
			}
			if e := reported(t, c); e.GetErrorCode() != tc.want {
				t.Errorf("reported %v, want %v", e, tc.want)
			}
		})
	}
}

// failingBody is a body whose Read returns err.
type failingBody struct{ err error }

func (b failingBody) Read([]byte) (int, error) { return 0, b.err }
func (failingBody) Close() error               { return nil }

func TestBinder_Data_ReadErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want *xerror.ErrorCode
	}{
		{"truncated", io.ErrUnexpectedEOF, xerror.BodyError},
		{"too slow", os.ErrDeadlineExceeded, xerror.ReadTimeout},
		{"other error", errors.New("read tcp 10.0.0.1: " + secret), xerror.BodyError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := request("")
			c.Request.Body, c.Request.ContentLength = failingBody{tc.err}, 10
			xbind.Bind(c, &order{}).Data()
			if e := reported(t, c); e.GetErrorCode() != tc.want ||
				strings.Contains(e.Error(), secret) {
				t.Errorf("reported %v, want %v", e, tc.want)
			}
		})
	}
}

// Further requests overwrite the pooled buffer, so a result that refers to it would
// change.
func TestBinder_Data_SharedBuffer(t *testing.T) {
	type everything struct {
		S string
		R json.RawMessage
		N json.Number
		A any
		M map[string]any
		B []byte
		U upper
		P *string
	}
	body := func(c string) string {
		return strings.NewReplacer("X", c).Replace(
			`{"S":"XXXX","R":{"XX":"XX"},"N":1X1,"A":["XX",{"XXX":1X1}],"M":{"XXX":"XXX"},"B":"XXXX","U":"XX","P":"XXXX"}`)
	}
	got := xbind.Bind(request(body("1")), &everything{}).Data()
	if got == nil {
		t.Fatal("rejected")
	}
	before := fmt.Sprintf("%+v %s", *got, *got.P)
	for i := range 50 {
		if xbind.Bind(request(body(strconv.Itoa(i%7+2))), &everything{}).Data() == nil {
			t.Fatal("rejected")
		}
	}
	if after := fmt.Sprintf("%+v %s", *got, *got.P); after != before {
		t.Errorf("result = %s after further requests, want %s", after, before)
	}
}

func TestBinder_Data_Concurrent(t *testing.T) {
	type fresh struct {
		Name string            `json:"name" binding:"required,regexp=^n[0-9]+$"`
		In   []struct{ V int } `json:"in" binding:"dive"`
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				name := "n" + strconv.Itoa(i*1000+n)
				c := request(`{"name":"` + name + `","in":[{"V":1}]}`)
				if got := xbind.Bind(c, &fresh{}).Data(); got == nil || got.Name != name {
					t.Errorf("got %v (%v), want %s", got, c.Errors, name)
				}
			}
		})
	}
	wg.Wait()
}

func TestHandleValidationError_GinContext(t *testing.T) {
	c := request(`{"name":""}`)
	var o order
	if !xvalid.HandleValidationError(c, c.ShouldBindJSON(&o)) {
		t.Fatal("HandleValidationError = false, want true")
	}
	if e := reported(t, c); e.GetErrorCode() != xerror.BodyError ||
		failedFields(e) != "name:required" {
		t.Errorf("reported %v, want BODY_ERROR for name", e)
	}
}
