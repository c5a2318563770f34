package snippets_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xoption"
)

func TestJavaException(t *testing.T) {
	_, number := strconv.Atoi("x")
	_, missing := os.Open("/there/is/no/such/file")
	kind := func(k driver.ErrorKind) error { return driver.Translate(k, errors.New("secret"), "") }
	for _, tc := range []struct {
		name string
		err  error
		want int
	}{
		{name: "illegal argument", err: number, want: 40002},
		{name: "missing file", err: missing, want: 40000},
		{name: "permission", err: fs.ErrPermission, want: 40302},
		{name: "timeout of the service's own work", err: context.DeadlineExceeded, want: 50201},
		{
			name: "timeout of a request body",
			err:  xerror.MarkBody(os.ErrDeadlineExceeded), want: 40803,
		},
		{name: "canceled", err: context.Canceled, want: 40018},
		{name: "other file error", err: &fs.PathError{Op: "read", Err: fs.ErrInvalid}, want: 50004},
		{name: "unsupported", err: errors.ErrUnsupported, want: 40023},
		{name: "unknown", err: errors.New("secret"), want: 50001},
		{name: "no row", err: gorm.ErrRecordNotFound, want: 40403},
		{name: "no row of database/sql", err: sql.ErrNoRows, want: 40403},
		{name: "unique", err: kind(driver.Unique), want: 40001},
		{name: "foreign key", err: kind(driver.ForeignKey), want: 40018},
		{name: "check", err: kind(driver.Check), want: 40018},
		{name: "not null", err: kind(driver.NotNull), want: 40003},
		{name: "too long", err: kind(driver.TooLong), want: 40002},
		{name: "out of range", err: kind(driver.OutOfRange), want: 40002},
		{name: "malformed", err: kind(driver.Malformed), want: 40004},
		{name: "deadlock", err: kind(driver.Deadlock), want: 40018},
		{name: "lock timeout", err: kind(driver.LockTimeout), want: 40018},
		{name: "connection", err: kind(driver.Connection), want: 50301},
		{name: "syntax", err: kind(driver.Syntax), want: 50002},
	} {
		if got, _ := xerror.JavaCode(xerror.From(tc.err).GetErrorCode()); got != tc.want {
			t.Errorf("%s: Java code %d, want %d", tc.name, got, tc.want)
		}
	}
}

// TestJavaErrorMapper is not parallel, because it changes the error mappers of the
// process.
func TestJavaErrorMapper(t *testing.T) {
	mappers := xoption.WithErrorMapper(
		xerror.MapIs(fs.ErrNotExist, xerror.NotExist),
		xerror.MapIs(fs.ErrPermission, xerror.Unauthorized),
		xerror.MapAs[*fs.PathError](xerror.OperationFailed),
	)
	app := plinthtest.New(t, xoption.WithProfile(xbase.ProfileJava), mappers,
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.GET("/read", func(c *gin.Context) {
				_ = c.Error(&fs.PathError{Op: "read", Err: fs.ErrInvalid})
			})
		}))
	if r := app.Request(http.MethodGet, "/read", nil); r.Status() != http.StatusBadRequest ||
		r.Code() != 40018 {
		t.Errorf("read = %d %s", r.Status(), r.Body())
	}
}

func TestJavaValidation(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithProfile(xbase.ProfileJava),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.POST("/user", func(c *gin.Context) {
				var request struct {
					Name string `binding:"required" json:"name"`
				}
				if xvalid.HandleValidationError(c, c.ShouldBindJSON(&request), xvalid.Query) {
					return
				}
				c.Status(http.StatusNoContent)
			})
		}))
	for _, tc := range []struct {
		name, body string
		status     int
		want       int
	}{
		{name: "failed rule", body: `{}`, status: http.StatusBadRequest, want: 40002},
		{name: "wrong type", body: `{"name":7}`, status: http.StatusBadRequest, want: 40006},
		{name: "no JSON", body: `{`, status: http.StatusBadRequest, want: 40007},
		{name: "no body", body: ``, status: http.StatusBadRequest, want: 40008},
	} {
		if r := app.Request(http.MethodPost, "/user", tc.body); r.Status() != tc.status ||
			r.Code() != tc.want {
			t.Errorf("%s = %d %s, want %d", tc.name, r.Status(), r.Body(), tc.want)
		}
	}
}

func TestJavaBinding(t *testing.T) {
	t.Parallel()
	type form struct {
		Page int `binding:"required" form:"page" header:"X-Page" json:"page" uri:"page"`
	}
	binders := map[string]func(*xbind.Binder[form]) *form{
		"/body": (*xbind.Binder[form]).Data, "/query": (*xbind.Binder[form]).Query,
		"/header": (*xbind.Binder[form]).Header,
	}
	app := plinthtest.New(t, xoption.WithProfile(xbase.ProfileJava),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			for path, bind := range binders {
				engine.POST(path, func(c *gin.Context) {
					if bind(xbind.Bind(c, &form{})) != nil {
						c.Status(http.StatusNoContent)
					}
				})
			}
		}))
	for _, tc := range []struct {
		name, path, body string
		want             int
	}{
		{name: "unreadable body", path: "/body", body: "{", want: 40007},
		{name: "no body", path: "/body", want: 40008},
		{name: "type in a body", path: "/body", body: `{"page":"x"}`, want: 40011},
		{name: "failed validation", path: "/body", body: `{}`, want: 40007},
		{name: "missing parameter", path: "/query", want: 40002},
		{name: "type of a parameter", path: "/query?page=x", want: 40006},
		{name: "missing header", path: "/header", want: 40012},
	} {
		r := app.Request(http.MethodPost, tc.path, tc.body)
		if r.Status() != http.StatusBadRequest || r.Code() != tc.want {
			t.Errorf("%s = %d %s, want %d", tc.name, r.Status(), r.Body(), tc.want)
		}
	}
}
