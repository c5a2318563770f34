package openapix_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/plinthgo/plinth/openapix"
)

// kin-openapi checks the structure of the document, its references, its schemas and the
// examples.
func TestDocument_Validity(t *testing.T) {
	text, err := openapix.Document(newEngine(routes), options()...)
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}
