package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

// now is a second at which tests receive.
var now = time.Unix(1_700_000_000, 0)

func verifier(t *testing.T, secrets ...webhook.Secret) *webhook.Verifier {
	t.Helper()
	v, err := webhook.NewVerifier(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// headers returns what a sender with these secrets adds to body.
func headers(id string, at time.Time, body string, secrets ...webhook.Secret) http.Header {
	h := http.Header{}
	var all []string
	for _, s := range secrets {
		all = append(all, webhook.Sign(s, id, at, []byte(body)))
	}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
	h.Set("webhook-signature", strings.Join(all, " "))
	return h
}

func TestVerify(t *testing.T) {
	secret, other := webhook.NewSecret(), webhook.NewSecret()
	const body = `{"type":"a"}`
	change := func(change func(h http.Header)) http.Header {
		h := headers("msg_1", now, body, secret)
		change(h)
		return h
	}
	set := func(name, value string) http.Header { return change(func(h http.Header) { h.Set(name, value) }) }
	right := webhook.Sign(secret, "msg_1", now, []byte(body))
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		want   error
	}{
		{"as it was signed", headers("msg_1", now, body, secret), body, nil},
		{"the new secret of two", headers("msg_1", now, body, other, secret), body, nil},
		{"an unknown version before", set("webhook-signature", "v1a,AAAA v9,x "+right), body, nil},
		{"4 min 59 s old", headers("msg_1", now.Add(-299*time.Second), body, secret), body, nil},
		{"4 min 59 s ahead", headers("msg_1", now.Add(299*time.Second), body, secret), body, nil},
		{"5 min 1 s old", headers("msg_1", now.Add(-301*time.Second), body, secret), body, webhook.ErrTimestamp},
		{"5 min 1 s ahead", headers("msg_1", now.Add(301*time.Second), body, secret), body, webhook.ErrTimestamp},
		{"another body", headers("msg_1", now, body, secret), body + " ", webhook.ErrSignature},
		{"another id", set("webhook-id", "msg_2"), body, webhook.ErrSignature},
		{"another time", set("webhook-timestamp", "1700000001"), body, webhook.ErrSignature},
		{"another secret", headers("msg_1", now, body, other), body, webhook.ErrSignature},
		{"only unknown versions", set("webhook-signature", strings.Replace(right, "v1,", "v2,", 1)), body, webhook.ErrSignature},
		{"no version", set("webhook-signature", strings.TrimPrefix(right, "v1,")), body, webhook.ErrSignature},
		{"no base64", set("webhook-signature", "v1,***"), body, webhook.ErrSignature},
		{"half a signature", set("webhook-signature", right[:len(right)/2]), body, webhook.ErrSignature},
		{"an empty signature", set("webhook-signature", "v1,"), body, webhook.ErrSignature},
		{"no id", change(func(h http.Header) { h.Del("webhook-id") }), body, webhook.ErrHeader},
		{"no timestamp", change(func(h http.Header) { h.Del("webhook-timestamp") }), body, webhook.ErrHeader},
		{"no signature", change(func(h http.Header) { h.Del("webhook-signature") }), body, webhook.ErrHeader},
		{"two ids", change(func(h http.Header) { h.Add("webhook-id", "msg_2") }), body, webhook.ErrHeader},
		{"two timestamps", change(func(h http.Header) { h.Add("webhook-timestamp", "1") }), body, webhook.ErrHeader},
		{"two signature headers", change(func(h http.Header) { h.Add("webhook-signature", right) }), body, webhook.ErrHeader},
		{"a full stop in the id", headers("msg.1", now, body, secret), body, webhook.ErrHeader},
		{"a long id", headers(strings.Repeat("a", 201), now, body, secret), body, webhook.ErrHeader},
		{"a sign before the time", set("webhook-timestamp", "+1700000000"), body, webhook.ErrHeader},
		{"a zero before the time", set("webhook-timestamp", "01700000000"), body, webhook.ErrHeader},
		{"a negative time", set("webhook-timestamp", "-1"), body, webhook.ErrHeader},
		{"a time beyond all", set("webhook-timestamp", "9223372036854775807"), body, webhook.ErrTimestamp},
		{"a time that is no number", set("webhook-timestamp", "now"), body, webhook.ErrHeader},
		{"a thousand signatures", set("webhook-signature", strings.Repeat(right+" ", 1000)), body, webhook.ErrHeader},
		{"a body above the limit", headers("msg_1", now, strings.Repeat("a", 101), secret), strings.Repeat("a", 101), webhook.ErrBodyTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := webhook.NewVerifier([]webhook.Secret{secret}, webhook.WithMaxBody(100),
				webhook.WithVerifierClock(func() time.Time { return now }))
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Verify(c.header, []byte(c.body))
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err != nil && got != (webhook.Delivery{}) {
				t.Errorf("a delivery %+v comes with the error", got)
			}
		})
	}
}

func TestABodyCannotLendItsBeginningToTheID(t *testing.T) {
	secret := webhook.NewSecret()
	body := fmt.Sprintf("%d.stolen", now.Unix())
	h := headers("msg_1", now, body, secret)
	h.Set("webhook-id", fmt.Sprintf("msg_1.%d", now.Unix()))
	v, err := webhook.NewVerifier([]webhook.Secret{secret}, webhook.WithVerifierClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(h, []byte("stolen")); !errors.Is(err, webhook.ErrHeader) {
		t.Errorf("error %v, want ErrHeader", err)
	}
}

func TestAVerifierReportsAllThatIsWrong(t *testing.T) {
	_, err := webhook.NewVerifier([]webhook.Secret{{}}, webhook.WithTolerance(0), webhook.WithMaxBody(0), webhook.WithVerifierClock(nil))
	if !errors.Is(err, webhook.ErrSecret) || !errors.Is(err, webhook.ErrOption) || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("error %v, want four problems", err)
	}
	if _, err := webhook.NewVerifier(nil); !errors.Is(err, webhook.ErrSecret) {
		t.Errorf("error %v, want ErrSecret", err)
	}
}

func FuzzVerifyOfForeignHeaders(f *testing.F) {
	secret := webhook.NewSecret()
	f.Add("msg_1", "1700000000", "v1,AAAA", []byte("{}"))
	f.Add("a.b", "-1", "v1,", []byte{})
	v, err := webhook.NewVerifier([]webhook.Secret{secret}, webhook.WithVerifierClock(func() time.Time { return now }))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, at, signature string, body []byte) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signature}}
		if _, err := v.Verify(h, body); err == nil {
			t.Errorf("accepted %q %q %q", id, at, signature)
		}
	})
}
