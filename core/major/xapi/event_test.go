package xapi_test

import (
	"bufio"
	"context"
	"iter"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
)

type tick struct {
	N int `json:"n"`
}

type ticksInput struct {
	After int `header:"Last-Event-ID" binding:"min=0"`
}

// ticks yields the events up to 4 after the last ID of the client.
func ticks(_ context.Context, in *ticksInput) (iter.Seq2[xapi.Event[tick], error], error) {
	return func(yield func(xapi.Event[tick], error) bool) {
		for n := in.After + 1; n <= 4; n++ {
			if !yield(xapi.Event[tick]{ID: strconv.Itoa(n), Name: "tick", Data: tick{n}}, nil) {
				return
			}
		}
	}, nil
}

func numbers(context.Context, *struct{}) (iter.Seq2[int, error], error) {
	return func(yield func(int, error) bool) { _ = yield(1, nil) && yield(2, nil) }, nil
}

func streamRoutes(e *gin.Engine) {
	xapi.Get(e, "/ticks", ticks)
	xapi.Get(e, "/numbers", numbers)
}

func TestEvent(t *testing.T) {
	app := plinthtest.New(t, xoption.WithEngine(streamRoutes))
	for _, tc := range []struct {
		name, path, accept, last string
		want                     string
	}{
		{
			"events", "/ticks", "text/event-stream", "2",
			"id: 3\nevent: tick\ndata: {\"n\":3}\n\nid: 4\nevent: tick\ndata: {\"n\":4}\n\n",
		},
		{"JSON lines", "/ticks", "application/jsonl", "2", "{\"n\":3}\n{\"n\":4}\n"},
		{"nothing to resume", "/ticks", "text/event-stream", "4", ""},
		{"values", "/numbers", "text/event-stream", "", "data: 1\n\ndata: 2\n\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opts := []plinthtest.RequestOption{plinthtest.WithHeader("Accept", tc.accept)}
			if tc.last != "" {
				opts = append(opts, plinthtest.WithHeader("Last-Event-ID", tc.last))
			}
			if r := app.Request(http.MethodGet, tc.path, nil, opts...); r.Body() != tc.want {
				t.Errorf("body = %q, want %q", r.Body(), tc.want)
			}
		})
	}
	t.Run("an invalid last ID is an error", func(t *testing.T) {
		r := app.Request(http.MethodGet, "/ticks", nil, plinthtest.WithHeader("Last-Event-ID", "x"))
		if r.Status() != http.StatusBadRequest || !strings.Contains(r.Body(), "Last-Event-Id") {
			t.Errorf("response = %d %s, want 400", r.Status(), r.Body())
		}
	})
}

func TestOperation_Events(t *testing.T) {
	app := plinthtest.New(t, xoption.WithEngine(streamRoutes))
	ops, err := xapi.Operations(app.Engine())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		events bool
		data   reflect.Type
	}{
		"/ticks":   {true, reflect.TypeFor[tick]()},
		"/numbers": {false, reflect.TypeFor[int]()},
	}
	for _, op := range ops {
		if w := want[op.Path]; op.Response != xapi.ResponseStream || op.Events != w.events ||
			op.Data != w.data {
			t.Errorf("%s: response %d of %v, events %t; want %v, events %t",
				op.Path, op.Response, op.Data, op.Events, w.data, w.events)
		}
	}
	if len(ops) != len(want) {
		t.Errorf("%d operations, want %d", len(ops), len(want))
	}
}

// The client reads the first event, disconnects and continues after it.
func TestEvent_Reconnect(t *testing.T) {
	url, _ := serveHTTP(t, streamRoutes)
	var ids []string
	for len(ids) < 4 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/ticks", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		if len(ids) > 0 {
			req.Header.Set("Last-Event-ID", ids[len(ids)-1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(resp.Body).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, strings.TrimPrefix(strings.TrimSpace(line), "id: "))
		_ = resp.Body.Close()
	}
	if got := strings.Join(ids, " "); got != "1 2 3 4" {
		t.Errorf("IDs = %s, want each once", got)
	}
}
