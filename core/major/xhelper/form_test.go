package xhelper_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// The handlers report errors of gin and net/http without xbind.
func TestServe_FormErrors(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	for path, read := range map[string]func(c *gin.Context) error{
		"/file":  func(c *gin.Context) error { _, err := c.FormFile("file"); return err },
		"/parse": func(c *gin.Context) error { return c.Request.ParseForm() },
		"/bind":  func(c *gin.Context) error { return c.ShouldBind(&struct{ Name string }{}) },
	} {
		engine.POST(path, func(c *gin.Context) {
			if err := read(c); err != nil {
				_ = c.Error(err)
				return
			}
			success(c)
		})
	}
	const (
		plain     = "application/x-www-form-urlencoded"
		multipart = "multipart/form-data; boundary=x"
	)
	for _, tc := range []struct {
		name        string
		target      string
		contentType string
		body        string
		want        string
	}{
		{
			"NUL in the header of a part", "/file",
			multipart, "--x\r\nContent-Disposition: form-data; name=\"a\x00\"\r\n\r\n\r\n--x--",
			"BODY_ERROR",
		},
		{"not a form", "/file", multipart, "hello--x--", "BODY_ERROR"},
		{
			"too many parts", "/file",
			multipart, strings.Repeat(
				"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 10_001) + "--x--",
			"UPLOAD_TOO_LARGE",
		},
		{"an invalid escape in the query", "/parse?a=%zz", plain, "a=b", "PARAMETER_ERROR"},
		{
			"an invalid escape in the query of an upload", "/file?a=%zz",
			multipart, "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--x--",
			"PARAMETER_ERROR",
		},
		{"an invalid escape in the form", "/bind", plain, "name=%zz", "PARAMETER_ERROR"},
		{"too many fields", "/bind", plain, strings.Repeat("a=b&", 10_001), "PARAMETER_ERROR"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tc.target,
				strings.NewReader(tc.body))
			req.Header.Set("Content-Type", tc.contentType)
			w := send(engine, req)
			if w.Code >= http.StatusInternalServerError ||
				!strings.Contains(w.Body.String(), `"`+tc.want+`"`) {
				t.Errorf("got %d %s, want %s", w.Code, w.Body, tc.want)
			}
		})
	}
}
