package webhook_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

// container contains endpoints in fields that fmt and slog format themselves.
type container struct {
	Open  webhook.Endpoint
	All   []webhook.Endpoint
	ByID  map[string]webhook.Endpoint
	Known webhook.StaticEndpoints
	Any   any
}

func TestEndpoint_Format(t *testing.T) {
	e := endpoint("https://example.com/hook-token")
	e.Header = http.Header{"Authorization": {"hook-token"}}
	known := webhook.StaticEndpoints{"shop": e}
	c := newClient(t)
	inner := struct{ sender any }{webhook.NewSender(known, c)}
	h := container{e, []webhook.Endpoint{e}, map[string]webhook.Endpoint{"shop": e}, known, &e}
	values := []any{
		e, &e, h.All,
		[]*webhook.Endpoint{&e},
		h.ByID, known, h, &h,
		map[string]any{"a": h},
		dispatcher(t, known, c), webhook.NewSender(known, c), dispatcher(t, known, c).Sender(),
		inner,
	}
	for _, value := range values {
		var out strings.Builder
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "value", value)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "value", value)
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(data)
		for _, leak := range []string{
			"hook-token", hex.EncodeToString([]byte("hook-token")),
			strings.ToUpper(hex.EncodeToString([]byte("hook-token"))), "Authorization",
		} {
			if i := strings.Index(out.String(), leak); i >= 0 {
				t.Errorf("%T shows %q: %s", value, leak, out.String()[max(i-200, 0):i+20])
			}
		}
	}
	data, err := json.Marshal(container{Open: e}.Open)
	if err != nil || string(data) != `"shop"` {
		t.Errorf("JSON = %s, %v; want the ID", data, err)
	}
}
