package openapix_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/openapix"
)

// kin-openapi checks the structure of the document, its references, its schemas and the
// examples.
func TestDocument_Validity(t *testing.T) {
	for _, p := range []xbase.Profile{
		xbase.ProfilePlinth, xbase.ProfileJava, xbase.ProfileJavaStrict,
	} {
		t.Run(p.String(), func(t *testing.T) {
			text, err := openapix.Document(newEngine(routes),
				append(options(), openapix.WithProfile(p))...)
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
		})
	}
}
