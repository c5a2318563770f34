package webhook_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/notifyx/webhook"
)

func TestDispatcher_Replay(t *testing.T) {
	var status atomic.Int32
	status.Store(http.StatusGone)
	ids := make(chan string, 2)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		ids <- r.Header.Get("Webhook-Id")
		w.WriteHeader(int(status.Load()))
	})
	d := dispatcher(t, shopOnly(s.URL), newClient(t))
	ctx, e := newEngine(t)
	id, err := d.Enqueue(ctx, "shop",
		webhook.Event{Type: "order.paid", Data: map[string]int{"order": 17}})
	if err != nil {
		t.Fatal(err)
	}
	e.work(t, ctx, d.Handler())
	e.attempt(t)
	queue := job.MustGetQueue(ctx)
	dead, err := queue.List(ctx, job.Query{State: job.StateDead, Kind: webhook.JobKind})
	if err != nil || len(dead) != 1 || dead[0].Attempt != 1 ||
		!strings.Contains(dead[0].Error, "410") {
		t.Fatalf("List = %+v, %v", dead, err)
	}
	var letter struct{ ID, Endpoint, Type, Data any }
	if err := json.Unmarshal(dead[0].Args, &letter); err != nil {
		t.Fatal(err)
	}
	if letter.ID != id || letter.Endpoint != "shop" || letter.Type != "order.paid" ||
		!strings.Contains(string(dead[0].Args), `"data":{"order":17}`) {
		t.Errorf("arguments = %s", dead[0].Args)
	}
	status.Store(http.StatusOK)
	if err := queue.Replay(ctx, dead[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := queue.Replay(ctx, dead[0].ID); !errors.Is(err, job.ErrState) {
		t.Errorf("a second Replay: %v, want ErrState", err)
	}
	if o := e.attempt(t); o.Action != driver.Complete {
		t.Errorf("outcome = %+v", o)
	}
	if first, second := <-ids, <-ids; first != id || second != id {
		t.Errorf("ids %q and %q, want %q", first, second, id)
	}
}
