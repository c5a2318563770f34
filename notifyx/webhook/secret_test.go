package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

func TestSignMatchesTheVectorOfTheSpecification(t *testing.T) {
	got := webhook.Sign(webhook.MustParseSecret(vector), "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0),
		[]byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("Sign = %q, want %q", got, want)
	}
}

func TestTheReferenceLibraryVerifiesWhatWeSign(t *testing.T) {
	for n := webhook.MinSecretBytes; n <= webhook.MaxSecretBytes; n++ {
		text := "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n)}, n))
		reference, err := standardwebhooks.NewWebhook(text)
		if err != nil {
			t.Fatal(err)
		}
		now, body, id := time.Now(), []byte(`{"n":1}`), webhook.NewID()
		header := http.Header{}
		header.Set("webhook-id", id)
		header.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
		header.Set("webhook-signature", webhook.Sign(webhook.MustParseSecret(text), id, now, body))
		if err := reference.Verify(body, header); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestWeVerifyWhatTheReferenceLibrarySigns(t *testing.T) {
	secret := webhook.NewSecret()
	reference, err := standardwebhooks.NewWebhook(secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	now, body := time.Now(), []byte("not even JSON \x00\xff")
	signature, err := reference.Sign("msg_1", now, body)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	header.Set("webhook-id", "msg_1")
	header.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
	header.Set("webhook-signature", signature)
	d, err := verifier(t, secret).Verify(header, body)
	if err != nil || d.ID != "msg_1" || d.Timestamp.Unix() != now.Unix() {
		t.Errorf("Verify = %+v, %v, want the delivery", d, err)
	}
}

func TestParseSecretRefusesWhatIsNoneAndDoesNotShowIt(t *testing.T) {
	encode := func(n int) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{'K'}, n)) }
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"24 bytes", "whsec_" + encode(24), nil},
		{"64 bytes", "whsec_" + encode(64), nil},
		{"23 bytes", "whsec_" + encode(23), webhook.ErrSecret},
		{"65 bytes", "whsec_" + encode(65), webhook.ErrSecret},
		{"no prefix", encode(32), webhook.ErrSecret},
		{"no padding", "whsec_" + strings.TrimRight(encode(32), "="), webhook.ErrSecret},
		{"line break", "whsec_" + encode(24) + "\n", webhook.ErrSecret},
		{"URL alphabet", "whsec_" + strings.Repeat("-_", 16), webhook.ErrSecret},
		{"nothing", "", webhook.ErrSecret},
	} {
		s, err := webhook.ParseSecret(c.text)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "S0tL") {
			t.Errorf("%s: the error %q shows the secret", c.name, err)
		}
		if err == nil && s.Reveal() != c.text {
			t.Errorf("%s: Reveal = %q, want what was parsed", c.name, s.Reveal())
		}
	}
}

// holder has a secret where fmt cannot call its methods.
type holder struct {
	Open   webhook.Secret
	hidden webhook.Secret
}

func TestASecretIsMaskedHoweverItIsPrinted(t *testing.T) {
	s := webhook.MustParseSecret(vector)
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(vector, "whsec_"))
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%T"} {
		for _, value := range []any{s, &s, []webhook.Secret{s}, holder{s, s}, &holder{s, s}, endpoint("https://example.com/hook-token")} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
	}
	e := endpoint("https://example.com/hook-token")
	e.Header = http.Header{"Authorization": {"hook-token"}}
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("text", "secret", s, "holder", holder{s, s}, "endpoint", e)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "secret", s, "holder", holder{s, s}, "endpoint", e)
	data, err := json.Marshal(map[string]any{"a": s, "b": holder{s, s}, "c": e.Secrets})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	for _, leak := range []string{"MfKQ9r8", string(key), hex.EncodeToString(key[:4]), strings.ToUpper(hex.EncodeToString(key[:4])), fmt.Sprintf("%d %d %d", key[0], key[1], key[2]), "hook-token"} {
		if strings.Contains(out.String(), leak) {
			i := strings.Index(out.String(), leak)
			t.Errorf("the output shows %q: %s", leak, out.String()[max(i-200, 0):i+20])
		}
	}
	if !strings.Contains(out.String(), "***") {
		t.Error("there is no mask")
	}
	if got := fmt.Sprintf("%v|%q|%#v", webhook.Secret{}, webhook.Secret{}, webhook.Secret{}); got != `|""|webhook.Secret("")` {
		t.Errorf("no secret prints as %q", got)
	}
}

func TestASecretIsReadFromJSON(t *testing.T) {
	var got struct{ Secret webhook.Secret }
	if err := json.Unmarshal([]byte(`{"secret":"`+vector+`"}`), &got); err != nil || got.Secret.Reveal() != vector {
		t.Errorf("got %q, %v", got.Secret.Reveal(), err)
	}
	if err := json.Unmarshal([]byte(`{"secret":"whsec_short"}`), &got); !errors.Is(err, webhook.ErrSecret) {
		t.Errorf("error %v, want ErrSecret", err)
	}
}

func TestNewSecretsAndIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seen[webhook.NewSecret().Reveal()], seen[webhook.NewID()] = true, true
	}
	if len(seen) != 200 {
		t.Errorf("%d of 200 differ", len(seen))
	}
	if _, err := webhook.ParseSecret(webhook.NewSecret().Reveal()); err != nil {
		t.Error(err)
	}
}

func TestNoSecretSignsNothing(t *testing.T) {
	if got := webhook.Sign(webhook.Secret{}, "msg_1", time.Now(), nil); got != "" {
		t.Errorf("Sign = %q, want nothing", got)
	}
}

// holding has endpoints where fmt and slog find them by themselves.
type holding struct {
	Open  webhook.Endpoint
	All   []webhook.Endpoint
	ByID  map[string]webhook.Endpoint
	Known webhook.StaticEndpoints
	Any   any
}

func TestAnEndpointIsItsIDInWhatHoldsIt(t *testing.T) {
	e := endpoint("https://example.com/hook-token")
	e.Header = http.Header{"Authorization": {"hook-token"}}
	known := webhook.StaticEndpoints{"shop": e}
	c := newClient(t)
	inner := struct{ sender any }{webhook.NewSender(known, c)}
	h := holding{e, []webhook.Endpoint{e}, map[string]webhook.Endpoint{"shop": e}, known, &e}
	values := []any{
		e, &e, h.All,
		[]*webhook.Endpoint{&e},
		h.ByID, known, h, &h,
		map[string]any{"a": h},
		dispatcher(t, known, c), webhook.NewSender(known, c), dispatcher(t, known, c).Sender(), inner,
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
		for _, leak := range []string{"hook-token", hex.EncodeToString([]byte("hook-token")), strings.ToUpper(hex.EncodeToString([]byte("hook-token"))), "Authorization"} {
			if i := strings.Index(out.String(), leak); i >= 0 {
				t.Errorf("%T shows %q: %s", value, leak, out.String()[max(i-200, 0):i+20])
			}
		}
	}
	data, err := json.Marshal(holding{Open: e}.Open)
	if err != nil || string(data) != `"shop"` {
		t.Errorf("as JSON %s, %v, want the id", data, err)
	}
}
