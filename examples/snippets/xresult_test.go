package snippets_test

import (
	"context"
	"database/sql"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xresult"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

func findUser(ctx context.Context, id string) (string, error) {
	if id != "7" {
		return "", xerror.NewError(ctx, xerror.UserNotFound, "no such user", false)
	}
	return "Ada", nil
}

func xresultRoutes(engine *gin.Engine) {
	engine.GET("/user/:id", func(c *gin.Context) {
		user, err := findUser(c, c.Param("id"))
		if err != nil {
			_ = c.Error(err) // the middleware writes the response
			return
		}
		xresult.SuccessHasData(c, "found", user)
	})
}

func TestXresult_Responses(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithEngine(xresultRoutes))
	if r := app.Request(http.MethodGet, "/user/7", nil); r.Status() != http.StatusOK ||
		r.Message() != "found" {
		t.Errorf("response = %d %s", r.Status(), r.Body())
	}
	if r := app.Request(http.MethodGet, "/user/8", nil); r.Status() != http.StatusUnauthorized {
		t.Errorf("response = %d %s", r.Status(), r.Body())
	}
}

func xresultStream(c *gin.Context) {
	type Row struct {
		Name string `json:"name"`
	}
	scan := func(rows *sql.Rows) (row Row, err error) { return row, rows.Scan(&row.Name) }
	rows, err := xdb.MustGetDB(c).Raw("SELECT 'Ada' UNION ALL SELECT 'Bob'").Rows() //nolint:rowserrcheck // checked at the end of the stream
	if err != nil {
		_ = c.Error(err)
		return
	}
	defer func() { _ = rows.Close() }()
	xresult.Stream(c, func(yield func(Row, error) bool) {
		for rows.Next() {
			row, err := scan(rows)
			if !yield(row, err) {
				return // the client disconnected, or err ended the stream
			}
		}
		if err := rows.Err(); err != nil {
			yield(Row{}, err)
		}
	})
}

func TestXresult_Stream(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithDatabase(xoptdatabase.FromEnv()),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.GET("/users", xresultStream)
		}))
	r := app.Request(http.MethodGet, "/users", nil)
	if r.Body() != "{\"name\":\"Ada\"}\n{\"name\":\"Bob\"}\n" {
		t.Errorf("response = %d %s", r.Status(), r.Body())
	}
}
