package email_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/emersion/go-message"
)

// part is a decoded MIME entity.
type part struct {
	Type        string
	Params      map[string]string
	Encoding    string
	Disposition string
	FileName    string
	ContentID   string
	Body        string
	Parts       []part
}

// parse decodes a message.
func parse(t *testing.T, data []byte) (message.Header, part) {
	t.Helper()
	e, err := message.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("cannot parse the message: %v\n%s", err, data)
	}
	return e.Header, walk(t, e)
}

func walk(t *testing.T, e *message.Entity) part {
	t.Helper()
	kind, params, err := e.Header.ContentType()
	if err != nil {
		t.Fatal(err)
	}
	disposition, dparams, _ := e.Header.ContentDisposition()
	p := part{
		Type: kind, Params: params, Encoding: e.Header.Get("Content-Transfer-Encoding"),
		Disposition: disposition,
		FileName:    dparams["filename"], ContentID: e.Header.Get("Content-Id"),
	}
	delete(params, "boundary")
	parts := e.MultipartReader()
	if parts == nil {
		body, err := io.ReadAll(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		p.Body = string(body)
		return p
	}
	for {
		sub, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Parts = append(p.Parts, walk(t, sub))
	}
}
