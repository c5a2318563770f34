package xerror_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// camel converts a name to UpperCamel, independently of the code under test.
func camel(name string) string {
	out, up := "", true
	for _, r := range name {
		switch {
		case r == '_':
			up = true
		case up:
			out, up = out+string(r), false
		default:
			out += strings.ToLower(string(r))
		}
	}
	return out
}

func TestJavaCode_Table(t *testing.T) {
	t.Run("contains the 58 known codes", func(t *testing.T) {
		if len(wantJavaCodes) != 58 {
			t.Fatalf("wantJavaCodes has %d codes", len(wantJavaCodes))
		}
		have := xerror.JavaTable()
		for name, number := range wantJavaCodes {
			if have[name] != number {
				t.Errorf("%s = %d, want %d", name, have[name], number)
			}
		}
		if len(have) != 58 {
			t.Errorf("the table has %d codes, want 58", len(have))
		}
		for name, label := range xerror.JavaLabels() {
			if label != camel(name) {
				t.Errorf("the label of %s is %s, want %s", name, label, camel(name))
			}
		}
	})

	t.Run("maps every code to a Java code of its class", func(t *testing.T) {
		statuses, known := map[int]bool{}, map[string]int{}
		for name, number := range wantJavaCodes {
			statuses[number/100] = true
			known[camel(name)] = number
		}
		for _, c := range xerror.Codes() {
			number, label := xerror.JavaCode(c)
			if known[label] == 0 || known[label] != number {
				t.Errorf("JavaCode(%s) = %d %s, which the Java library does not define",
					c.GetOutput(), number, label)
			}
			if number/100/100 != c.Status()/100 {
				t.Errorf("JavaCode(%s, %d) = %d, which has another class",
					c.GetOutput(), c.GetCode(), number)
			}
			if isApplicationCode(c.GetCode()) {
				continue
			}
			_, sameName := wantJavaCodes[c.GetOutput()]
			if sameName && label != camel(c.GetOutput()) {
				t.Errorf("JavaCode(%s) = %s, want the same name", c.GetOutput(), label)
			}
			if !sameName && statuses[c.Status()] && number/100 != c.Status() {
				t.Errorf("JavaCode(%s, %d) = %d, want a code of the same status",
					c.GetOutput(), c.GetCode(), number)
			}
		}
	})

	t.Run("uses aliases that exist in both tables", func(t *testing.T) {
		outputs := map[string]bool{}
		for _, c := range xerror.Codes() {
			outputs[c.GetOutput()] = true
		}
		for from, to := range xerror.JavaAliases() {
			if !outputs[from] {
				t.Errorf("%s is not in the catalogue", from)
			}
			if wantJavaCodes[from] != 0 {
				t.Errorf("%s is a Java code and needs no alias", from)
			}
			if wantJavaCodes[to] == 0 {
				t.Errorf("%s, the alias of %s, is not a Java code", to, from)
			}
		}
	})
}

func TestJavaCode(t *testing.T) {
	sameNameOtherClass := xerror.MustRegistered(50070, "PARAMETER_MISSING")
	sameName := xerror.MustRegistered(40071, "REQUEST_ERROR")
	teapot := xerror.MustRegistered(41870, "TEAPOT")
	serverCode := xerror.MustRegistered(50770, "ODD_SERVER")
	unknown := xerror.MustRegistered(50970, "NOT_KNOWN")
	for _, tc := range []struct {
		name   string
		code   *xerror.ErrorCode
		number int
		label  string
	}{
		{"same name", xerror.ParameterError, 40002, "ParameterError"},
		{"same name, other number", xerror.BadRequest, 40024, "BadRequest"},
		{"same name, other status", xerror.UnknownError, 50999, "UnknownError"},
		{
			"same name, other status of the class",
			xerror.ResourceExhausted, 50008, "ResourceExhausted",
		},
		{"alias", xerror.ConfigError, 50007, "ConfigurationError"},
		{"alias of a status without codes", xerror.UniqueConstraint, 40001, "Existed"},
		{"failed validation", xerror.ValidationError, 40002, "ParameterError"},
		{"unknown path", xerror.RouteNotFound, 40401, "PageNotFound"},
		{"general code of the status", xerror.TokenExpired, 40101, "Unauthorized"},
		{"general code of 409", xerror.Conflict, 40018, "OperationFailed"},
		{"general code of 410", xerror.Gone, 40402, "NotFound"},
		{"a 400 number with status 500", xerror.DeveloperError, 50001, "ServerInternalError"},
		{"general code of 504", xerror.GatewayTimeout, 50201, "GatewayError"},
		{"application, name of a Java code", sameName, 40027, "RequestError"},
		{"application", orderPaid, 40018, "OperationFailed"},
		{
			"application, name of a Java code of another class",
			sameNameOtherClass, 50001, "ServerInternalError",
		},
		{"application, status without a code", teapot, 40024, "BadRequest"},
		{"application, server status without a code", serverCode, 50001, "ServerInternalError"},
		{"application, Java status of an unknown error", unknown, 50999, "UnknownError"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if number, label := xerror.JavaCode(tc.code); number != tc.number || label != tc.label {
				t.Errorf("JavaCode(%s) = %d %s, want %d %s",
					tc.code.GetOutput(), number, label, tc.number, tc.label)
			}
		})
	}
}
