package sink

import (
	"errors"
	"io"
	"strings"

	"github.com/emersion/go-message/mail"
)

// Mail is the visible content of an email.
type Mail struct {
	ID      string   // Message-ID
	To      []string // of the envelope
	Subject string
	Text    string
}

// read decodes an email up to its first plain text part.
func read(r io.Reader) (Mail, error) {
	parts, err := mail.CreateReader(r)
	if err != nil {
		return Mail{}, err
	}
	subject, err := parts.Header.Subject()
	if err != nil {
		return Mail{}, err
	}
	m := Mail{ID: parts.Header.Get("Message-Id"), Subject: subject}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return Mail{}, err
		}
		header, inline := part.Header.(*mail.InlineHeader)
		if !inline || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
			continue
		}
		text, err := io.ReadAll(part.Body)
		m.Text = strings.ReplaceAll(string(text), "\r\n", "\n")
		return m, err
	}
}
