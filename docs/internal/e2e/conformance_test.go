package e2e_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/conformance/testnode"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/docs"
	"github.com/plinthgo/plinth/docs/internal/guard"
	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
	"github.com/plinthgo/plinth/docs/internal/tool"
)

// suite is the conformance suite's program.
var suite = []string{"@modelcontextprotocol", "conformance", "dist", "index.js"}

// finish runs a command and returns its output.
func finish(t *testing.T, command *exec.Cmd) (out string, err error) {
	t.Helper()
	var b bytes.Buffer
	command.Stdout, command.Stderr = &b, &b
	err = command.Run()
	return b.String(), err
}

// passed matches a scenario that passed, in the list at the end.
var passed = regexp.MustCompile(`(?m)^✓ .*$`)

// expected is the file of the scenarios that need a session, which this server does not
// have.
var expected = filepath.Join("testdata", "expected-failures.yml")

func TestConformance(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want int // scenarios that the requirements count, without those that are expected to fail
	}{
		{name: "2026-07-28", args: []string{"--requirements", "2026-07-28"}, want: 37},
		{name: "2025-11-25", args: []string{
			"--requirements", "2025-11-25", "--expected-failures",
			expected,
		}, want: 25},
	} {
		t.Run(tc.name, func(t *testing.T) {
			programs, r := needNode(t)
			out, err := conform(t, programs,
				append([]string{"--url", suiteEndpoint(t), "-o", t.TempDir()}, tc.args...)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, summary(out))
			}
			got := len(passed.FindAllString(out, -1))
			if got < tc.want {
				t.Errorf("%d scenarios passed, want %d\n%s", got, tc.want, summary(out))
			}
			note(r, "conformance %s: %d scenarios passed, no unexpected failure",
				tc.name, got)
		})
	}
}

// suiteEndpoint serves the protocol endpoint with the fixtures of the suite, behind the
// same middleware and guard as plinth-docs.
func suiteEndpoint(t *testing.T) string {
	t.Helper()
	library, err := page.Load(docs.Content())
	if err != nil {
		t.Fatal(err)
	}
	server := tool.New(tool.Config{
		Library: library, Index: search.New(library),
		Options: suiteOptions,
	})
	addSuite(server)
	endpoint := guard.New(guard.Config{},
		suiteStream(func(*http.Request) *mcp.Server { return server }, guard.StreamOptions()))
	app := plinthtest.New(t, xoption.WithHealth(),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.NoRoute(func(c *gin.Context) {
				c.Status(http.StatusOK) // gin has set 404
				endpoint.ServeHTTP(c.Writer, c.Request)
			})
		}))
	web := httptest.NewServer(app.Engine())
	t.Cleanup(web.Close)
	return web.URL + "/api/mcp"
}

// conform runs the suite against a server.
func conform(t *testing.T, programs *testnode.Programs, args ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	return finish(t, programs.Command(ctx,
		append([]string{programs.Path(suite...), "server"}, args...)...))
}

// summary returns the end of the output of the suite.
func summary(out string) string {
	if i := strings.LastIndex(out, "=== SUMMARY"); i >= 0 {
		return out[i:]
	}
	return out[max(0, len(out)-4000):]
}
