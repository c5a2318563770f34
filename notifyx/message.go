package notifyx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Type selects the sender of a message. WithSender registers additional types. A type has
// 1 to 32 characters of A-Z, 0-9 and _, and starts with a letter.
type Type string

// Predefined types.
const (
	TypeEmail   Type = "EMAIL"
	TypeWebhook Type = "WEBHOOK"
	// TypeSMS has no sender until an application registers one.
	TypeSMS Type = "SMS"
)

// Limits of a message.
const (
	maxRecipients = 1000
	maxRecipient  = 2048 // bytes; a recipient may be a URL
	maxSubject    = 998  // bytes; the line limit of RFC 5322
)

// Message is a notification. Its JSON form is the argument of a durable job.
type Message struct {
	// ID identifies the message and is the same on every attempt: 1 to 64 characters of
	// A-Z, a-z, 0-9 and ._-. The default is a UUID.
	ID string `json:"id,omitempty"`
	// To contains the recipients in the format of the type: addresses, URLs or numbers.
	To []string `json:"to"`
	// Subject is a single line. The subject of a template overrides it.
	Subject string `json:"subject,omitempty"`
	// Content is plain text, or the payload of types such as a webhook. HTML is the HTML
	// version, for types that support it.
	Content string `json:"content,omitempty"`
	HTML    string `json:"html,omitempty"`
	// Template names a template that produces Content and HTML from Variables; see
	// Templates.
	Template  string         `json:"template,omitempty"`
	Variables map[string]any `json:"variables,omitempty"`
	Type      Type           `json:"type"`
	// Priority orders queued messages. Zero is job.PriorityDefault.
	Priority job.Priority `json:"priority,omitempty"`
	// Language is a BCP 47 tag or an Accept-Language value. The default is the language
	// of the request.
	Language string `json:"language,omitempty"`
	// CreatedAt is the same on every attempt, in UTC and whole microseconds. The default
	// is the time of the call of Send or SendAsync.
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// UnmarshalJSON decodes numbers in Variables as json.Number, which preserves their
// digits.
func (m *Message) UnmarshalJSON(text []byte) error {
	type plain Message
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*plain)(m))
}

// Validate reports every problem of the message at once as an ErrMessage, without values.
// The sender validates the format of recipients.
func (m *Message) Validate() error {
	if m == nil {
		return InvalidMessage(errors.New("the message is nil"))
	}
	var p problems
	p.add(m.ID != "" && !xctx.ValidID(m.ID), "id: 1 to 64 of A-Z, a-z, 0-9 and ._-")
	p.add(m.Type == "", "type: is missing")
	p.add(m.Type != "" && !m.Type.valid(), "type: 1 to 32 of A-Z, 0-9 and _, the first a letter")
	p.add(m.Priority < 0 || m.Priority > job.PriorityLow, "priority: 1 to 4, or 0 for the default")
	p.add(len(m.Language) > maxLanguage || strings.ContainsFunc(m.Language, notPrintable),
		fmt.Sprintf("language: at most %d printable ASCII characters", maxLanguage))
	p.add(m.CreatedAt.Year() < 0 || m.CreatedAt.Year() > 9999,
		"created_at: the year is not one of 0 to 9999")
	m.checkRecipients(&p)
	m.checkContent(&p)
	return InvalidMessage(p...)
}

func (m *Message) checkRecipients(p *problems) {
	p.add(len(m.To) == 0, "to: no recipient")
	p.add(len(m.To) > maxRecipients, fmt.Sprintf("to: more than %d recipients", maxRecipients))
	for i, to := range m.To {
		if i == maxRecipients {
			return
		}
		p.add(strings.TrimSpace(to) == "", fmt.Sprintf("to: recipient %d is empty", i+1))
		p.add(len(to) > maxRecipient,
			fmt.Sprintf("to: recipient %d is longer than %d bytes", i+1, maxRecipient))
		p.add(!utf8.ValidString(to) || strings.ContainsFunc(to, breaksLine),
			fmt.Sprintf("to: recipient %d has a line break, another control character, "+
				"or is not UTF-8", i+1))
	}
}

func (m *Message) checkContent(p *problems) {
	p.add(!utf8.ValidString(m.Subject) || strings.ContainsFunc(m.Subject, breaksLine),
		"subject: has a line break, another control character, or is not UTF-8")
	p.add(len(m.Subject) > maxSubject, fmt.Sprintf("subject: longer than %d bytes", maxSubject))
	p.add(!utf8.ValidString(m.Content), "content: is not UTF-8")
	p.add(len(m.Content) > maxOutput, fmt.Sprintf("content: longer than %d bytes", maxOutput))
	p.add(!utf8.ValidString(m.HTML), "html: is not UTF-8")
	p.add(len(m.HTML) > maxOutput, fmt.Sprintf("html: longer than %d bytes", maxOutput))
	p.add(m.Template != "" && !validName(m.Template),
		"template: 1 to 100 of A-Z, a-z, 0-9, _ and -")
	p.add(m.Template != "" && (m.Content != "" || m.HTML != ""),
		"template: cannot be combined with content or html")
	p.add(m.Template == "" && m.Content == "" && m.HTML == "",
		"content: neither content nor a template")
	if _, err := plainVariables(m.Variables); err != nil {
		p.add(true, "variables: "+err.Error())
	}
}

type problems []error

func (p *problems) add(invalid bool, text string) {
	if invalid {
		*p = append(*p, errors.New(text))
	}
}

func (t Type) valid() bool {
	return len(t) >= 1 && len(t) <= 32 && t[0] >= 'A' && t[0] <= 'Z' &&
		!strings.ContainsFunc(string(t),
			func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' })
}

func notPrintable(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }

// code returns the error code that a client gets if sending fails.
func (t Type) code() *xerror.ErrorCode {
	switch t {
	case TypeEmail:
		return xerror.EmailError
	case TypeWebhook:
		return xerror.WebhookError
	case TypeSMS:
		return xerror.SmsError
	default:
		return xerror.ThirdPartyError
	}
}
