package openapix_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix"
)

type ping struct {
	Name string `binding:"max=3" form:"name"`
}

type pong struct {
	Message string `json:"message"`
}

func profileRoutes(e *gin.Engine) {
	java := xapi.Group(e, "/java", xapi.Profile(xbase.ProfileJava))
	xapi.Get(java, "/pong", func(_ context.Context, in *ping) (*pong, error) {
		if in.Name == "bob" {
			return nil, xerror.New(xerror.UserNotFound, "")
		}
		return &pong{Message: "pong"}, nil
	}, xapi.ID("javaPong"), xapi.Errors(xerror.UserNotFound))
	xapi.Get(java, "/nothing", func(context.Context, *struct{}) (struct{}, error) {
		return struct{}{}, nil
	}, xapi.ID("nothing"))
	xapi.Get(e, "/plain", func(context.Context, *struct{}) (xapi.JSON[pong], error) {
		return xapi.JSON[pong]{Value: pong{Message: "pong"}}, nil
	}, xapi.ID("plain"))
}

// The document describes the responses of the Java profile and of values without an
// envelope.
func TestDocument_Profile(t *testing.T) {
	app := plinthtest.New(t, xoption.WithRoute(
		func(_ context.Context, e *gin.Engine) { profileRoutes(e) }))
	text, err := openapix.Document(app.Engine())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/java/pong", "/java/pong?name=bob", "/java/pong?name=long", "/java/nothing", "/plain",
	} {
		r := app.Request(http.MethodGet, path, nil)
		route, _, _ := strings.Cut(path, "?")
		checkResponse(t, text, http.MethodGet, route, "application/json", r.Status(), r.Body())
	}
	var document struct {
		Catalogue []struct {
			Output string `json:"output"`
			Java   struct {
				Code   int    `json:"code"`
				Output string `json:"output"`
			} `json:"java"`
		} `json:"x-error-catalogue"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, entry := range document.Catalogue {
		if entry.Output == "PARAMETER_ERROR" &&
			(entry.Java.Code != 40002 || entry.Java.Output != "ParameterError") {
			t.Errorf("Java code of PARAMETER_ERROR = %+v, want 40002 ParameterError", entry.Java)
		}
	}
}

func TestWithProfile(t *testing.T) {
	text, err := openapix.Document(newEngine(routes),
		append(options(), openapix.WithProfile(xbase.ProfileJava))...)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.Contains(s, `"JavaSuccess"`) || strings.Contains(s, `"Success": {`) {
		t.Error("the document does not have the envelope of the Java library only")
	}
}

func TestWithReference(t *testing.T) {
	app := plinthtest.New(t, xoption.WithRoute(routes),
		openapix.Serve(append(options(), openapix.WithReference("/reference"))...))
	r := get(app.Engine(), http.MethodGet, "/reference")
	if r.Code != http.StatusOK || !strings.Contains(r.Body.String(), "createUser") ||
		r.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("status %d, header %v, want the page with its policy", r.Code, r.Header())
	}
	if r := get(app.Engine(), http.MethodGet, "/reference/missing"); r.Code != http.StatusNotFound {
		t.Errorf("status of a missing file = %d, want 404", r.Code)
	}
	if r := get(app.Engine(), http.MethodHead, "/reference"); r.Code != http.StatusOK ||
		r.Body.Len() != 0 {
		t.Errorf("HEAD = %d with %d bytes, want 200 without a body", r.Code, r.Body.Len())
	}
	for _, path := range []string{"", "reference", "/", "/:name"} {
		if _, err := openapix.Document(newEngine(routes), openapix.WithReference(path)); err == nil {
			t.Errorf("WithReference(%q) is accepted, want an error", path)
		}
	}
}
