package signature_test

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
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// vector is the example secret of the specification.
const vector = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestSign(t *testing.T) {
	t.Run("matches the example of the specification", func(t *testing.T) {
		got := signature.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek",
			time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`),
			signature.MustParseSecret(vector))
		if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
			t.Errorf("Sign = %q, want %q", got, want)
		}
	})

	t.Run("is accepted by the reference library", func(t *testing.T) {
		for n := signature.MinSecretBytes; n <= signature.MaxSecretBytes; n++ {
			text := "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n)}, n))
			reference, err := standardwebhooks.NewWebhook(text)
			if err != nil {
				t.Fatal(err)
			}
			now, body, id := time.Now(), []byte(`{"n":1}`), signature.NewID()
			header := http.Header{}
			header.Set("webhook-id", id)
			header.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
			header.Set("webhook-signature",
				signature.Sign(id, now, body, signature.MustParseSecret(text)))
			if err := reference.Verify(body, header); err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	})
}

func TestParseSecret(t *testing.T) {
	encode := func(n int) string {
		return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{'K'}, n))
	}
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"24 bytes", "whsec_" + encode(24), nil},
		{"64 bytes", "whsec_" + encode(64), nil},
		{"23 bytes", "whsec_" + encode(23), signature.ErrSecret},
		{"65 bytes", "whsec_" + encode(65), signature.ErrSecret},
		{"no prefix", encode(32), signature.ErrSecret},
		{"no padding", "whsec_" + strings.TrimRight(encode(32), "="), signature.ErrSecret},
		{"line break", "whsec_" + encode(24) + "\n", signature.ErrSecret},
		{"URL alphabet", "whsec_" + strings.Repeat("-_", 16), signature.ErrSecret},
		{"nothing", "", signature.ErrSecret},
	} {
		s, err := signature.ParseSecret(c.text)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "S0tL") {
			t.Errorf("%s: error %q contains the secret", c.name, err)
		}
		if err == nil && s.Reveal() != c.text {
			t.Errorf("%s: Reveal = %q, want the parsed text", c.name, s.Reveal())
		}
	}
}

// endpoint returns a receiver with the example secret.
func endpoint(url string) webhook.Endpoint {
	return webhook.Endpoint{
		ID: "shop", URL: url, Secrets: []signature.Secret{signature.MustParseSecret(vector)},
	}
}

// wrapper has an exported field, and an unexported one whose methods fmt cannot call.
type wrapper struct {
	Open   signature.Secret
	hidden signature.Secret
}

func TestSecret_Format(t *testing.T) {
	s := signature.MustParseSecret(vector)
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(vector, "whsec_"))
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%T"} {
		for _, value := range []any{
			s, &s,
			[]signature.Secret{s},
			wrapper{s, s},
			&wrapper{s, s},
			endpoint("https://example.com/hook-token"),
		} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
	}
	e := endpoint("https://example.com/hook-token")
	e.Header = http.Header{"Authorization": {"hook-token"}}
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("text", "secret", s, "wrapper", wrapper{s, s}, "endpoint", e)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "secret", s, "wrapper",
		wrapper{s, s}, "endpoint", e)
	data, err := json.Marshal(map[string]any{"a": s, "b": wrapper{s, s}, "c": e.Secrets})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	for _, leak := range []string{
		"MfKQ9r8",
		string(key), hex.EncodeToString(key[:4]), strings.ToUpper(hex.EncodeToString(key[:4])),
		fmt.Sprintf("%d %d %d", key[0], key[1], key[2]), "hook-token",
	} {
		if strings.Contains(out.String(), leak) {
			i := strings.Index(out.String(), leak)
			t.Errorf("the output contains %q: %s", leak, out.String()[max(i-200, 0):i+20])
		}
	}
	if !strings.Contains(out.String(), "***") {
		t.Error("the output has no mask")
	}
	if got := fmt.Sprintf("%v|%q|%#v",
		signature.Secret{}, signature.Secret{}, signature.Secret{}); got != "||" {
		t.Errorf("empty secret prints as %q", got)
	}
}

func TestSecret_UnmarshalText(t *testing.T) {
	var got struct{ Secret signature.Secret }
	if err := json.Unmarshal([]byte(`{"secret":"`+vector+`"}`), &got); err != nil ||
		got.Secret.Reveal() != vector {
		t.Errorf("got %q, %v", got.Secret.Reveal(), err)
	}
	if err := json.Unmarshal([]byte(`{"secret":"whsec_short"}`), &got); !errors.Is(err,
		signature.ErrSecret) {
		t.Errorf("error %v, want ErrSecret", err)
	}
}

func TestNewSecret(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seen[signature.NewSecret().Reveal()], seen[signature.NewID()] = true, true
	}
	if len(seen) != 200 {
		t.Errorf("%d of 200 values are distinct", len(seen))
	}
	if _, err := signature.ParseSecret(signature.NewSecret().Reveal()); err != nil {
		t.Error(err)
	}
}

func TestSecret_IsZero(t *testing.T) {
	if got := signature.Sign("msg_1", time.Now(), nil, signature.Secret{}); got != "" {
		t.Errorf("Sign = %q, want nothing", got)
	}
}
