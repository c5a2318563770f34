package email

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/textproto"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wneessen/go-mail"
)

// maxHeader limits the value of a header field, so that lines do not exceed 998 bytes
// (RFC 5322, section 2.1.1).
const maxHeader = 900

// composed is an encoded message. All attempts send the same bytes.
type composed struct {
	*envelope
	id      string // the Message-ID
	content []byte
}

// compose validates and encodes m. It returns all problems as one ErrMessage.
func (c *EmailClient) compose(ctx context.Context, m *Message) (*composed, error) {
	if m == nil {
		return nil, invalid(errors.New("the message is nil"))
	}
	if err := ctx.Err(); err != nil {
		return nil, contextError(ctx, "")
	}
	envelope, problems := c.config.newEnvelope(m)
	body, err := c.body(ctx, m)
	problems = append(problems, err, checkBody(body), checkHeaders(m.Headers))
	files, err := filesOf(m)
	if err := errors.Join(append(problems, err)...); err != nil {
		return nil, invalid(err)
	}
	out := &composed{envelope: envelope, id: messageID(m.ID, envelope.from.Address)}
	msg := out.newMsg(body, m.Headers)
	msg.SetDateWithValue(cmp.Or(m.Date, time.Now()))
	if len(files) == 0 { // nested multiparts need distinct boundaries
		msg.SetBoundary(out.boundary(body))
	}
	for _, f := range files {
		f.addTo(msg)
	}
	var content bytes.Buffer
	if _, err := msg.WriteTo(&content); err != nil {
		return nil, invalid(err)
	}
	out.content = content.Bytes()
	if len(out.content) > c.config.MaxSize {
		return nil, invalid(fmt.Errorf("it is larger than Config.MaxSize (%d bytes)",
			c.config.MaxSize))
	}
	return out, nil
}

// newMsg returns the message without its files.
func (e *composed) newMsg(body content, headers map[string]string) *mail.Msg {
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	msg.SetMessageIDWithValue(e.id)
	msg.SetAddrHeaderFromMailAddress(mail.HeaderFrom, e.from)
	if len(e.to) > 0 {
		msg.SetAddrHeaderFromMailAddress(mail.HeaderTo, e.to...)
	}
	if len(e.cc) > 0 {
		msg.SetAddrHeaderFromMailAddress(mail.HeaderCc, e.cc...)
	}
	msg.SetAddrHeaderFromMailAddress(mail.HeaderReplyTo, e.replyTo...)
	msg.Subject(headerText(body.subject))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		msg.SetGenHeader(mail.Header(textproto.CanonicalMIMEHeaderKey(name)),
			headerText(headers[name]))
	}
	switch {
	case body.html == "":
		msg.SetBodyString(mail.TypeTextPlain, body.text)
	case body.text == "":
		msg.SetBodyString(mail.TypeTextHTML, body.html)
	default: // clients prefer the last alternative
		msg.SetBodyString(mail.TypeTextPlain, body.text)
		msg.AddAlternativeString(mail.TypeTextHTML, body.html)
	}
	return msg
}

// boundary returns the multipart boundary, a hash that the parts cannot contain.
func (e *composed) boundary(body content) string {
	sum := sha256.Sum256([]byte(e.id + "\x00" + body.text + "\x00" + body.html))
	return hex.EncodeToString(sum[:30])
}

// content is the visible content of a message.
type content struct{ subject, text, html string }

// body returns the content of the message or of its template.
func (c *EmailClient) body(ctx context.Context, m *Message) (content, error) {
	out := content{subject: m.Subject, text: m.Text, html: m.HTML}
	if m.Template != "" {
		if m.Text != "" || m.HTML != "" {
			return out, errors.New("field Template cannot be combined with Text or HTML")
		}
		var err error
		if out, err = c.render(ctx, m); err != nil {
			return out, err
		}
	}
	if out.text == "" && out.html == "" {
		return out, errors.New("it has no content: set Text, HTML or Template")
	}
	return out, nil
}

func checkBody(body content) error {
	var problems []error
	if err := checkValue(body.subject); err != nil {
		problems = append(problems, fmt.Errorf("the subject %w", err))
	}
	if strings.TrimSpace(body.subject) == "" {
		problems = append(problems, errors.New("it has no subject"))
	}
	for name, text := range map[string]string{"Text": body.text, "HTML": body.html} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			problems = append(problems, fmt.Errorf("%s is not valid UTF-8 text", name))
		}
	}
	return errors.Join(problems...)
}

// reserved lists the header fields that are set from other fields of Message or by mail
// servers.
var reserved = []string{
	"From", "Sender", "To", "Cc", "Bcc", "Reply-To", "Subject", "Date", "Message-Id",
	"Mime-Version", "Return-Path", "Received",
	"Dkim-Signature", "Authentication-Results", "Delivered-To", "Envelope-To",
}

// checkHeaders validates Message.Headers.
func checkHeaders(headers map[string]string) error {
	var problems []error
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !isToken(name):
			problems = append(problems, fmt.Errorf("%.64q is not a header field name", name))
		case slices.Contains(reserved, key), strings.HasPrefix(key, "Content-"),
			strings.HasPrefix(key, "Resent-"),
			strings.HasPrefix(key, "Arc-"):
			problems = append(problems,
				fmt.Errorf("the header field %s is reserved", key))
		case seen[key]:
			problems = append(problems, fmt.Errorf("the header field %s is duplicated", key))
		}
		seen[key] = true
		if err := checkValue(headers[name]); err != nil {
			problems = append(problems, fmt.Errorf("the header field %.64q %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// checkValue validates the text of a header field. The error does not contain it.
func checkValue(text string) error {
	switch {
	case strings.ContainsFunc(text, unprintable), !utf8.ValidString(text):
		return errors.New("has a line break, another control character, or is not UTF-8")
	case len(text) > maxHeader:
		return fmt.Errorf("is longer than %d bytes", maxHeader)
	}
	return nil
}

// headerText returns the text of a header field. Text that looks like an encoded word is
// encoded, so that clients display it unchanged.
func headerText(text string) string {
	text = collapseSpaces(text)
	if !hasEncodedWord(text) {
		return text
	}
	var words []string
	// The text of a word, without the rest of its last character. An encoded word has at
	// most 75 bytes (RFC 2047, section 2).
	const maxBytes = 39
	for len(text) > 0 {
		n := min(maxBytes, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		words = append(words, "=?UTF-8?B?"+base64.StdEncoding.EncodeToString([]byte(text[:n]))+"?=")
		text = text[n:]
	}
	return strings.Join(words, " ")
}

// hasEncodedWord reports whether decoding changes the text, as for =?utf-8?q?=0D=0A?=.
func hasEncodedWord(text string) bool {
	if !strings.Contains(text, "=?") {
		return false
	}
	decoded, err := new(mime.WordDecoder).DecodeHeader(text)
	return err != nil || decoded != text
}

// collapseSpaces replaces runs of spaces with one space. Folding a run could produce a
// line of spaces only.
func collapseSpaces(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, " "),
		func(word string) bool { return word == "" }), " ")
}

// isToken reports whether s is a header field name. It accepts a safe subset of RFC 5322,
// section 2.2.
func isToken(s string) bool {
	return s != "" && len(s) <= 76 && !strings.ContainsFunc(s,
		func(r rune) bool { return r != '-' && r != '_' && !alphanumeric(r) })
}
