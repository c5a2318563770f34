package xlog_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xlog/internal/terminal"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestTerminal(t *testing.T) {
	t.Run("aligns the columns", func(t *testing.T) {
		clock := noon.Local().Format("15:04:05.000")
		id := xctx.NewRequest(t.Context(), nil)
		id.SetID("1f6d2c9a-0000-4000-8000-000000000000")
		for _, tc := range []struct {
			name string
			log  func(*xlog.LogNamedLogger)
			want string
		}{
			{
				name: "attributes and request ID",
				log: func(l *xlog.LogNamedLogger) {
					l.Info(id, "user registered",
						slog.Int("user", 42), slog.Duration("took", 1250*time.Microsecond))
				},
				want: `INFO   [SERV]  user registered                  user=42 took=1.25ms #1f6d2c9a`,
			},
			{
				name: "message only",
				log:  func(l *xlog.LogNamedLogger) { l.Notice(t.Context(), "started") },
				want: `NOTICE [SERV]  started`,
			},
			{
				name: "wide characters occupy two columns",
				log: func(l *xlog.LogNamedLogger) {
					l.Warn(t.Context(), "用户已注册", slog.String("k", "张三"))
				},
				want: `WARN   [SERV]  用户已注册                       k=张三`,
			},
			{
				name: "groups joined with dots, lists as JSON, quoted words",
				log: func(l *xlog.LogNamedLogger) {
					l.Error(t.Context(), "m",
						slog.Group("g", slog.Int("a", 1), slog.Group("h", slog.Bool("b", true))),
						slog.Any("list", []string{"x y"}), slog.String("empty", ""),
						slog.String("space", "a b"), slog.String("eq", "a=b"),
						slog.Any("none", nil), slog.Any("obj", struct{}{}),
						slog.String("a key", "v"))
				},
				want: `ERROR  [SERV]  m                                g.a=1 g.h.b=true list=["x y"] empty="" space="a b" eq="a=b" none=null obj={} "a key"=v`,
			},
			{
				name: "control characters are quoted",
				log: func(l *xlog.LogNamedLogger) {
					l.Debug(t.Context(), "a\nb\x1b[31m", slog.String("k", "c\u009bd"))
				},
				want: `DEBUG  [SERV]  "a\nb\x1b[31m"                   k="c\u009bd"`,
			},
			{
				name: "stack below its line",
				log: func(l *xlog.LogNamedLogger) {
					l.Log(t.Context(), slog.Level(12), "m",
						slog.String("stack", "main.f()\n\t/app/main.go:1\x1b\n"), slog.Int("k", 1))
				},
				want: "PANIC  [SERV]  m                                k=1\n    │ main.f()\n    │ \"    /app/main.go:1\\x1b\"",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e, rec := newEngine(t, console)
				tc.log(e.WithName(xlog.NamedSERV))
				lines := rec.take()
				if want := clock + " " + tc.want + "\n"; len(lines) != 1 || lines[0] != want {
					t.Errorf("got\n%q, want\n%q", lines, want)
				}
			})
		}
	})

	t.Run("fits a request in 80 columns", func(t *testing.T) {
		id := xctx.NewRequest(t.Context(), nil)
		id.SetID("1f6d2c9a-0000-4000-8000-000000000000")
		long := "/api/v1/" + strings.Repeat("customers/", 20)
		for _, tc := range []struct {
			name string
			line xlog.AccessLine
			want string
		}{
			{
				name: "method, path, status and time",
				line: xlog.AccessLine{
					Method: "POST", Path: "/notes", Route: "/notes", Status: 201, Bytes: 57,
					Start:    noon.Add(-3120 * time.Microsecond),
					ClientIP: "192.0.2.1", UserAgent: "curl",
				},
				want: `INFO   [HTTP]  POST /notes 201 3.12ms #1f6d2c9a`,
			},
			{
				name: "error",
				line: xlog.AccessLine{
					Method: "GET", Path: "/notes/1", Status: 404,
					Start:     noon.Add(-120 * time.Microsecond),
					ErrorCode: 40400, ErrorMessage: "no such note",
				},
				want: `INFO   [HTTP]  GET /notes/1 404 120µs 40400 no such note #1f6d2c9a`,
			},
			{
				name: "long path is truncated",
				line: xlog.AccessLine{
					Method: "DELETE", Path: long, Status: 500, Start: noon.Add(-25 * time.Second),
					ErrorCode: 50000, ErrorMessage: "failed",
				},
				want: `ERROR  [HTTP]  DELETE /api/v1/customers/customer… 500 25s #1f6d2c9a`,
			},
			{
				name: "path of wide characters is truncated",
				line: xlog.AccessLine{
					Method: "GET", Path: "/" + strings.Repeat("路", 100), Status: 200,
					Start: noon.Add(-1500 * time.Millisecond),
				},
				want: `INFO   [HTTP]  GET /` + strings.Repeat("路", 13) + `… 200 1.5s #1f6d2c9a`,
			},
			{
				name: "long error message is truncated",
				line: xlog.AccessLine{
					Method: "PUT", Path: "/a", Status: 422, Start: noon.Add(-time.Hour),
					ErrorCode: 42200, ErrorMessage: strings.Repeat("abc", 100),
				},
				want: `INFO   [HTTP]  PUT /a 422 1h0m0s 42200 abcabcabcabcabcab… #1f6d2c9a`,
			},
			{
				name: "control characters are quoted",
				line: xlog.AccessLine{Method: "GET", Path: "/\x1b[31m", Status: 200},
				want: `INFO   [HTTP]  GET "/\x1b[31m" 200 0s #1f6d2c9a`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e, rec := newEngine(t, console)
				e.WithName(xlog.NamedHTTP).Access(id, &tc.line)
				_, got, _ := strings.Cut(strings.TrimSuffix(rec.one(t), "\n"), " ")
				if got != tc.want {
					t.Errorf("got\n%s, want\n%s", got, tc.want)
				}
				if width := len("15:04:05.123 ") + utf8.RuneCountInString(got) +
					strings.Count(got, "路"); width > 80 {
					t.Errorf("line width = %d columns, want at most 80", width)
				}
			})
		}
	})

	t.Run("summarizes a call", func(t *testing.T) {
		e, rec := newEngine(t, console)
		e.WithName(xlog.NamedGRPC).Call(t.Context(),
			&xlog.CallLine{Method: "/shop.v1.Orders/Get", Status: "OK", Start: noon})
		if got := rec.one(t); !strings.Contains(got, " [GRPC]  /shop.v1.Orders/Get OK ") ||
			strings.Contains(got, "duration_ms") {
			t.Errorf("line = %s", got)
		}
	})

	t.Run("shows durations with a unit", func(t *testing.T) {
		e, rec := newEngine(t, console)
		for d, want := range map[time.Duration]string{
			0:                        "0s",
			999:                      "999ns",
			51677:                    "51.7µs",
			1250 * time.Microsecond:  "1.25ms",
			127824938:                "128ms",
			1999 * time.Millisecond:  "2s",
			12345 * time.Millisecond: "12.3s",
			75 * time.Second:         "1m15s",
			-3 * time.Millisecond:    "-3ms",
			36 * time.Hour:           "36h0m0s",
		} {
			e.WithName("").Info(t.Context(), "m", slog.Duration("took", d),
				slog.Group("g", slog.Duration("wait_ms", d)), slog.Int("n", 5))
			suffix := " took=" + want + " g.wait_ms=" + want + " n=5\n"
			if got := rec.one(t); !strings.HasSuffix(got, suffix) {
				t.Errorf("%d ns: %s, want %s", d, got, want)
			}
		}
	})

	t.Run("colors level, name and errors", func(t *testing.T) {
		line := `{"time":"2025-03-04T12:00:00.123Z","level":"error","name":"N","msg":"m","error":"boom","k":1}` + "\n"
		got := render(true, line)
		for _, want := range []string{
			"\x1b[31mERROR\x1b[0m", "\x1b[36m[N]\x1b[0m",
			"\x1b[31mboom\x1b[0m", "\x1b[1mm\x1b[0m",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q does not contain %q", got, want)
			}
		}
		if plain := render(false, line); strings.Contains(plain, "\x1b") {
			t.Errorf("%q is colored", plain)
		}
	})

	t.Run("accepts malformed lines", func(t *testing.T) {
		for _, s := range []string{
			"", "{", "{}", `{"a`, `{"a":`, `{"a":"`, `{"a":{"b":`, "null",
			`{"time":1,"level":2,"msg":{}}`,
		} {
			if got := render(true, s); !strings.HasSuffix(got, "\n") {
				t.Errorf("AppendLine(%q) = %q, want a final line break", s, got)
			}
		}
	})

	t.Run("does not expand deep objects", func(t *testing.T) {
		const deep = 1000
		object := strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep)
		got := render(false, `{"level":"info","msg":"m","k":`+object+`,"after":1}`+"\n")
		want := " k" + strings.Repeat(".a", 16) + "=" + object[16*len(`{"a":`):len(object)-16] +
			" after=1\n"
		if !strings.HasSuffix(got, want) {
			t.Errorf("line = %s, want the suffix %s", got, want)
		}
	})
}

func FuzzTerminal(f *testing.F) {
	f.Add(`{"time":"x","level":"info","msg":"m","g":{"a":[1,{"b":"\n"}]}}`)
	f.Fuzz(func(_ *testing.T, s string) { render(false, s) })
}

func TestConfig_Format_Pipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	e, _ := newEngine(t, func(c *xlog.Config) { c.Writer, c.Format = w, "" })
	e.WithName("").Info(t.Context(), "m")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1024)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, string(buf[:n]))
}

func render(color bool, line string) string {
	return string(terminal.AppendLine(nil, []byte(line), color))
}
