package javacode_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xerror/javacode"
)

func TestJavaCode(t *testing.T) {
	t.Run("returns the Java number and label", func(t *testing.T) {
		for _, tc := range []struct {
			code   *xerror.ErrorCode
			number int
			label  string
		}{
			{javacode.BodyInvalid, 40009, "BodyInvalid"},
			{javacode.HeaderInvalid, 40014, "HeaderInvalid"},
			{javacode.HeaderIllegal, 40015, "HeaderIllegal"},
			{javacode.OperationIllegal, 40020, "OperationIllegal"},
			{javacode.OperationTypeError, 40025, "OperationTypeError"},
			{javacode.RequestError, 40027, "RequestError"},
			{javacode.NetworkNotSuccess, 50010, "NetworkNotSuccess"},
		} {
			if number, label := xerror.JavaCode(tc.code); number != tc.number || label != tc.label {
				t.Errorf("%s: got %d %s, want %d %s",
					tc.code.GetOutput(), number, label, tc.number, tc.label)
			}
			if tc.code.Status() != tc.number/100 {
				t.Errorf("%s: got status %d, want %d",
					tc.code.GetOutput(), tc.code.Status(), tc.number/100)
			}
		}
	})

	t.Run("covers all known codes together with the catalogue", func(t *testing.T) {
		const known = 58
		labels := map[string]bool{}
		for _, c := range xerror.Codes() {
			_, label := xerror.JavaCode(c)
			labels[label] = true
		}
		if len(labels) != known {
			t.Errorf("got %d labels, want %d", len(labels), known)
		}
	})
}
