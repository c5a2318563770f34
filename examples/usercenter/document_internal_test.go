package main

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/openapix"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	text, err := openapix.Document(app.Engine(), description()...)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("is committed", func(t *testing.T) {
		t.Parallel()
		if diff := cmp.Diff(string(document), string(text)); diff != "" {
			t.Errorf("openapi.json is out of date (-want +got), "+
				"update it with go generate ./usercenter:\n%s", diff)
		}
	})

	t.Run("is valid for kin-openapi", func(t *testing.T) {
		t.Parallel()
		d, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
			t.Error(err)
		}
	})

	t.Run("has all routes", func(t *testing.T) {
		t.Parallel()
		d, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for path, item := range d.Paths.Map() {
			for method, op := range item.Operations() {
				got[method+" "+path] = op.Summary != ""
			}
		}
		want := map[string]bool{
			"GET /ping": true, "GET /api/ping": true, "GET /api/v1/user/{id}": true,
			"POST /api/v1/user": true, "POST /api/v1/user/login": true,
			"POST /api/v1/user/register": true,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("operations with a summary (-want +got):\n%s", diff)
		}
	})
}
