package sink

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
)

// Mail is what people would see of a mail.
type Mail struct {
	ID      string   // the Message-ID
	To      []string // those of the envelope
	Subject string
	Text    string
}

// read takes a mail apart, down to the plain text.
func read(r io.Reader) (Mail, error) {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return Mail{}, err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		return Mail{}, err
	}
	text, err := plain(textproto.MIMEHeader(m.Header), m.Body)
	return Mail{ID: m.Header.Get("Message-Id"), Subject: subject, Text: text}, err
}

// plain returns the first text/plain of a part and the parts in it, or "".
func plain(header textproto.MIMEHeader, body io.Reader) (string, error) {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return "", err
	}
	switch {
	case kind == "text/plain":
		return decode(header.Get("Content-Transfer-Encoding"), body)
	case !strings.HasPrefix(kind, "multipart/"):
		return "", nil
	}
	for parts := multipart.NewReader(body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if text, err := plain(part.Header, part); err != nil || text != "" {
			return text, err
		}
	}
}

func decode(encoding string, body io.Reader) (string, error) {
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}
