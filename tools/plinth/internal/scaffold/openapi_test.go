package scaffold_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestRender_OpenAPI(t *testing.T) {
	_, files := rendered(t, plain)
	document, err := openapi3.NewLoader().LoadFromData(files["openapi.json"])
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil || document.Info.Title != "my-shop" {
		t.Errorf("title = %q, want my-shop; %v", document.Info.Title, err)
	}
}
