package xlog_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestAccessLineHoldsTheRequest(t *testing.T) {
	e, rec := newEngine(t)
	e.WithName(xlog.NamedHTTP).Access(t.Context(), &xlog.AccessLine{
		Method: "POST", Path: "/u/1", Route: "/u/:id",
		Status: 404, Bytes: 12, Start: noon.Add(-1234567),
		ClientIP: "192.0.2.1", UserAgent: "curl", ErrorCode: 40400, ErrorMessage: "none",
	})
	want := `{"time":"2025-03-04T12:00:00.123Z","level":"info","name":"HTTP","msg":"request","method":"POST","path":"/u/1",` +
		`"route":"/u/:id","status":404,"bytes":12,"duration_ms":1.234,"client_ip":"192.0.2.1","error_code":40400,` +
		`"error_message":"none","user_agent":"curl"}` + "\n"
	if got := rec.one(t); got != want {
		t.Errorf("line =\n%s, want\n%s", got, want)
	}
	e.WithName("").Access(t.Context(), &xlog.AccessLine{Method: "GET", Path: "/", Status: 204})
	if got := rec.one(t); !strings.HasSuffix(got,
		`"path":"/","status":204,"bytes":0,"duration_ms":0}`+"\n") {
		t.Errorf("empty fields show: %s", got)
	}
}

func TestAccessLevelFollowsTheStatus(t *testing.T) {
	e, rec := newEngine(t)
	for status, want := range map[int]string{
		101: "info", 200: "info", 304: "info", 400: "info", 499: "info", 500: "error", 599: "error",
	} {
		e.WithName("").Access(t.Context(), &xlog.AccessLine{Status: status})
		if got := rec.object(t)["level"]; got != want {
			t.Errorf("level of %d = %v, want %v", status, got, want)
		}
	}
	e.WithName("").Access(t.Context(), &xlog.AccessLine{Status: 500, Reported: true})
	if got := rec.object(t)["level"]; got != "info" {
		t.Errorf("level of a reported failure = %v, want info", got)
	}
}

func TestAccessCutsWhatAClientSendsBetweenCharacters(t *testing.T) {
	e, rec := newEngine(t)
	e.WithName("").Access(t.Context(), &xlog.AccessLine{
		Method: strings.Repeat("M", 5000), Path: strings.Repeat("路", 5000),
		UserAgent: "x" + strings.Repeat("代", 5000), Status: 200,
	})
	line := rec.one(t)
	if len(line) > 3000 || strings.Contains(line, "\ufffd") || strings.Contains(line, "ufffd") {
		t.Errorf("%d bytes: %s", len(line), line)
	}
	decode(t, line)
}

func TestTraceTellsNameOutcomeAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			name string
			fail error
			want string
		}{
			{name: "ok", want: `"level":"debug","name":"SERV","msg":"call","call":"User.Find","outcome":"ok","duration_ms":12`},
			{
				name: "error", fail: errBoom,
				want: `"level":"warn","name":"SERV","msg":"call","call":"User.Find","outcome":"error","duration_ms":12,"error":"boom"`,
			},
		} {
			e, rec := newEngine(t)
			err := e.WithName(xlog.NamedSERV).Trace(t.Context(), "User.Find",
				func(context.Context) error {
					<-time.After(12 * time.Millisecond)
					return tc.fail
				}, slog.Any("headers",
					http.Header{"Authorization": {"Bearer abc"}, "Accept": {"*/*"}}))
			if !errors.Is(err, tc.fail) {
				t.Errorf("%s: error = %v, want that of the call", tc.name, err)
			}
			line := rec.one(t)
			if want := tc.want +
				`,"headers":{"Accept":["*/*"],"Authorization":"***"}}`; !strings.Contains(line,
				want) {
				t.Errorf("%s: line = %s, want %s", tc.name, line, want)
			}
		}
	})
}

func TestTraceLetsAPanicGoOn(t *testing.T) {
	e, rec := newEngine(t)
	defer func() {
		if got := recover(); got != "gone" {
			t.Errorf("panic value = %v", got)
		}
		if m := rec.object(t); m["outcome"] != "panic" || m["level"] != "error" {
			t.Errorf("line = %v", m)
		}
	}()
	_ = xlog.Trace(xlog.NewContext(t.Context(), e), "call",
		func(context.Context) error { panic("gone") })
}

func TestTraceIsQuietBelowItsLevel(t *testing.T) {
	e, rec := newEngine(t, func(c *xlog.Config) { c.Level = slog.LevelInfo })
	if err := e.WithName("").Trace(t.Context(), "call",
		func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	if got := rec.take(); len(got) != 0 {
		t.Errorf("lines = %q", got)
	}
}
