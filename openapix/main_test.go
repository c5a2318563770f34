package openapix_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/openapix"
)

// childKey makes the test binary run the application of the fixture instead of the tests.
const childKey = "OPENAPIX_TEST_CHILD"

func runMain(m *testing.M) {
	if _, child := os.LookupEnv(childKey); child { //nolint:forbidigo // not a setting
		xreg.Register(context.Background(), nil, xoption.WithoutEnvFile(),
			openapix.Serve(append(options(), openapix.WithDescriptions([]byte(
				`{"openapi":"3.1.0","components":{"schemas":{"Event":{"description":"stale"}}}}`)))...),
			xoption.WithRoute(routes))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// run runs the application with environment variables.
func run(t *testing.T, env ...string) (log string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), childKey+"=1"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestServe_Output(t *testing.T) {
	dir := t.TempDir()
	output, comments := filepath.Join(dir, "openapi.json"), filepath.Join(dir, "comments.json")
	text := `{"` + pkg + `user": "user is an account."}`
	if err := os.WriteFile(comments, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Run("writes the document with the comments", func(t *testing.T) {
		log, err := run(t, "PLINTH_OPENAPI_OUTPUT="+output, "PLINTH_OPENAPI_COMMENTS="+comments)
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		got, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		_, want := document(t, openapix.WithComments(map[string]string{pkg + "user": "user is an account."}))
		if string(got) != string(want) {
			t.Errorf("the file differs from the document of Document:\n%s", got)
		}
	})
	t.Run("fails if the comments cannot be read", func(t *testing.T) {
		log, err := run(t, "PLINTH_OPENAPI_OUTPUT="+output,
			"PLINTH_OPENAPI_COMMENTS="+filepath.Join(dir, "missing.json"))
		if err == nil || !strings.Contains(log, "openapix: read the comments") {
			t.Errorf("error %v, log %s; want a failed start", err, log)
		}
	})
	t.Run("fails if the document cannot be written", func(t *testing.T) {
		log, err := run(t, "PLINTH_OPENAPI_OUTPUT="+filepath.Join(dir, "missing", "openapi.json"))
		if err == nil || !strings.Contains(log, "openapix: write the document") {
			t.Errorf("error %v, log %s; want a failed start", err, log)
		}
	})
}
