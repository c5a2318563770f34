package email

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/mail"
	"slices"
	"strings"
)

// envelope contains the validated addresses of a message.
type envelope struct {
	from        *mail.Address
	to, cc, bcc []*mail.Address
	replyTo     []*mail.Address
	recipients  []string // distinct, for the envelope
	needsUTF8   bool     // an address requires SMTPUTF8
}

// newEnvelope validates the addresses of m and returns all problems.
func (c Config) newEnvelope(m *Message) (*envelope, []error) {
	e := &envelope{from: c.sender()}
	var problems []error
	parse := func(field string, list []string) []*mail.Address {
		var out []*mail.Address
		for i, text := range list {
			a, err := parseAddress(text)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s %d %w", field, i+1, err))
				continue
			}
			out = append(out, a)
		}
		return out
	}
	if m.From != "" {
		if from := parse("From", []string{m.From}); from != nil {
			e.from = from[0]
		}
	}
	e.to, e.cc, e.bcc, e.replyTo = parse("To", m.To), parse("Cc", m.Cc), parse("Bcc", m.Bcc),
		parse("ReplyTo", m.ReplyTo)
	for _, a := range slices.Concat(e.to, e.cc, e.bcc) {
		if !slices.Contains(e.recipients, a.Address) {
			e.recipients = append(e.recipients, a.Address)
		}
	}
	e.needsUTF8 = !isASCII(e.from.Address) || !isASCII(strings.Join(e.recipients, ""))
	for _, a := range e.replyTo {
		e.needsUTF8 = e.needsUTF8 || !isASCII(a.Address)
	}
	switch n := len(m.To) + len(m.Cc) + len(m.Bcc); {
	case n == 0:
		problems = append(problems, fmt.Errorf("it has no recipient"))
	case n > c.MaxRecipients:
		problems = append(problems,
			fmt.Errorf("it has %d recipients, more than Config.MaxRecipients (%d)",
				n, c.MaxRecipients))
	}
	return e, problems
}

// messageID returns the Message-ID for an ID, without angle brackets. It is an unkeyed
// hash, so guesses of the ID can be verified.
func messageID(id, from string) string {
	sum := sha256.Sum256([]byte(id))
	local := sum[:16]
	if id == "" {
		local = make([]byte, 16)
		_, _ = rand.Read(local) // never fails
	}
	domain := from[strings.LastIndexByte(from, '@')+1:]
	if !isASCII(domain) {
		domain = "localhost"
	}
	return hex.EncodeToString(local) + "@" + domain
}
