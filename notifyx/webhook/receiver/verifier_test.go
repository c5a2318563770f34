package receiver_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// now is the current time of the tests.
var now = time.Unix(1_700_000_000, 0)

func verifier(t *testing.T, secrets ...signature.Secret) *receiver.Verifier {
	t.Helper()
	v, err := receiver.NewVerifier(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// headers returns the headers that a sender with these secrets adds to body.
func headers(id string, at time.Time, body string, secrets ...signature.Secret) http.Header {
	h := http.Header{}
	var all []string
	for _, s := range secrets {
		all = append(all, signature.Sign(id, at, []byte(body), s))
	}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
	h.Set("webhook-signature", strings.Join(all, " "))
	return h
}

func TestVerifier_Verify(t *testing.T) {
	secret, other := signature.NewSecret(), signature.NewSecret()
	const body = `{"type":"a"}`
	change := func(change func(h http.Header)) http.Header {
		h := headers("msg_1", now, body, secret)
		change(h)
		return h
	}
	set := func(name, value string) http.Header {
		return change(func(h http.Header) { h.Set(name, value) })
	}
	valid := signature.Sign("msg_1", now, []byte(body), secret)
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		want   error
	}{
		{"valid", headers("msg_1", now, body, secret), body, nil},
		{"the new secret of two", headers("msg_1", now, body, other, secret), body, nil},
		{"unknown version first", set("webhook-signature", "v1a,AAAA v9,x "+valid), body, nil},
		{"4 min 59 s old", headers("msg_1", now.Add(-299*time.Second), body, secret), body, nil},
		{"4 min 59 s ahead", headers("msg_1", now.Add(299*time.Second), body, secret), body, nil},
		{
			"5 min 1 s old", headers("msg_1", now.Add(-301*time.Second), body, secret), body,
			receiver.ErrTimestamp,
		},
		{
			"5 min 1 s ahead", headers("msg_1", now.Add(301*time.Second), body, secret), body,
			receiver.ErrTimestamp,
		},
		{"another body", headers("msg_1", now, body, secret), body + " ", receiver.ErrSignature},
		{"another ID", set("webhook-id", "msg_2"), body, receiver.ErrSignature},
		{"another time", set("webhook-timestamp", "1700000001"), body, receiver.ErrSignature},
		{"another secret", headers("msg_1", now, body, other), body, receiver.ErrSignature},
		{
			"only unknown versions",
			set("webhook-signature", strings.Replace(valid, "v1,", "v2,", 1)),
			body, receiver.ErrSignature,
		},
		{
			"no version", set("webhook-signature", strings.TrimPrefix(valid, "v1,")), body,
			receiver.ErrSignature,
		},
		{"not base64", set("webhook-signature", "v1,***"), body, receiver.ErrSignature},
		{
			"half a signature", set("webhook-signature", valid[:len(valid)/2]), body,
			receiver.ErrSignature,
		},
		{"an empty signature", set("webhook-signature", "v1,"), body, receiver.ErrSignature},
		{"no ID", change(func(h http.Header) { h.Del("webhook-id") }), body, receiver.ErrHeader},
		{
			"no timestamp", change(func(h http.Header) { h.Del("webhook-timestamp") }), body,
			receiver.ErrHeader,
		},
		{
			"no signature", change(func(h http.Header) { h.Del("webhook-signature") }), body,
			receiver.ErrHeader,
		},
		{
			"two IDs", change(func(h http.Header) { h.Add("webhook-id", "msg_2") }), body,
			receiver.ErrHeader,
		},
		{
			"two timestamps", change(func(h http.Header) { h.Add("webhook-timestamp", "1") }), body,
			receiver.ErrHeader,
		},
		{
			"two signature headers",
			change(func(h http.Header) { h.Add("webhook-signature", valid) }),
			body, receiver.ErrHeader,
		},
		{"a full stop in the ID", headers("msg.1", now, body, secret), body, receiver.ErrHeader},
		{
			"a long ID", headers(strings.Repeat("a", 201), now, body, secret), body,
			receiver.ErrHeader,
		},
		{
			"a sign before the time",
			set("webhook-timestamp", "+1700000000"), body, receiver.ErrHeader,
		},
		{
			"a zero before the time",
			set("webhook-timestamp", "01700000000"), body, receiver.ErrHeader,
		},
		{"a negative time", set("webhook-timestamp", "-1"), body, receiver.ErrHeader},
		{
			"the largest time", set("webhook-timestamp", "9223372036854775807"), body,
			receiver.ErrTimestamp,
		},
		{"a time that is not a number", set("webhook-timestamp", "now"), body, receiver.ErrHeader},
		{
			"a thousand signatures",
			set("webhook-signature", strings.Repeat(valid+" ", 1000)), body, receiver.ErrHeader,
		},
		{
			"a body above the limit", headers("msg_1", now, strings.Repeat("a", 101), secret),
			strings.Repeat("a", 101), receiver.ErrBodyTooLarge,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := receiver.NewVerifier([]signature.Secret{secret}, receiver.WithMaxBody(100),
				receiver.WithClock(func() time.Time { return now }))
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Verify(c.header, []byte(c.body))
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err != nil && got != (receiver.Delivery{}) {
				t.Errorf("delivery %+v with an error", got)
			}
		})
	}
}

func TestVerifier_Verify_IDBoundary(t *testing.T) {
	secret := signature.NewSecret()
	body := fmt.Sprintf("%d.stolen", now.Unix())
	h := headers("msg_1", now, body, secret)
	h.Set("webhook-id", fmt.Sprintf("msg_1.%d", now.Unix()))
	v, err := receiver.NewVerifier([]signature.Secret{secret},
		receiver.WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(h, []byte("stolen")); !errors.Is(err, receiver.ErrHeader) {
		t.Errorf("error %v, want ErrHeader", err)
	}
}

func TestNewVerifier(t *testing.T) {
	_, err := receiver.NewVerifier([]signature.Secret{{}}, receiver.WithTolerance(0),
		receiver.WithMaxBody(0), receiver.WithClock(nil))
	if !errors.Is(err, signature.ErrSecret) || !errors.Is(err, receiver.ErrOption) ||
		strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("error %v, want four problems", err)
	}
	if _, err := receiver.NewVerifier(nil); !errors.Is(err, signature.ErrSecret) {
		t.Errorf("error %v, want ErrSecret", err)
	}
}

func FuzzVerifier_Verify(f *testing.F) {
	secret := signature.NewSecret()
	f.Add("msg_1", "1700000000", "v1,AAAA", []byte("{}"))
	f.Add("a.b", "-1", "v1,", []byte{})
	v, err := receiver.NewVerifier([]signature.Secret{secret},
		receiver.WithClock(func() time.Time { return now }))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, at, signature string, body []byte) {
		h := http.Header{
			"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signature},
		}
		if _, err := v.Verify(h, body); err == nil {
			t.Errorf("accepted %q %q %q", id, at, signature)
		}
	})
}

func TestVerifier_Verify_ReferenceLibrary(t *testing.T) {
	secret := signature.NewSecret()
	reference, err := standardwebhooks.NewWebhook(secret.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	now, body := time.Now(), []byte("not even JSON \x00\xff")
	signed, err := reference.Sign("msg_1", now, body)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	header.Set("webhook-id", "msg_1")
	header.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
	header.Set("webhook-signature", signed)
	d, err := verifier(t, secret).Verify(header, body)
	if err != nil || d.ID != "msg_1" || d.Timestamp.Unix() != now.Unix() {
		t.Errorf("Verify = %+v, %v, want the delivery", d, err)
	}
}
