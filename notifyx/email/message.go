package email

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Message is one mail. Send leaves it as it is, so that it may be sent again.
//
// An address is "user@example.com" or "Name <user@example.com>", see Address. However a
// message is printed, it shows its ID, its template and how many recipients it has, and
// nothing of its content.
type Message struct {
	// ID makes the Message-ID: the same ID of the same sender gives the same one, so that
	// a repeat can be recognized. "" gives a new one with each Send.
	ID string
	// Date is that of the header; zero is the time of Send. The same ID, Date and content
	// give the same bytes, but for the boundaries of a message with files.
	Date time.Time
	// From is the sender, also of the envelope; "" is Config.From.
	From string
	// To, Cc and Bcc are the recipients. Bcc is in no header.
	To, Cc, Bcc []string
	// ReplyTo is where answers go; none is From.
	ReplyTo []string

	// Subject is the subject, where no template has one.
	Subject string
	// Text and HTML are the content: either, or both for readers that know only the one
	// or the other.
	Text, HTML string
	// Template names the template that makes Subject, Text and HTML from Variables.
	Template string
	// Variables are what the template's text names.
	Variables map[string]any
	// Language chooses among a template's languages, such as "zh" or "en-GB"; "" is the
	// request's, where ctx is of one, else Config.Language.
	Language string

	// Attachments are files beside the content.
	Attachments []File
	// Inlines are files that HTML shows, such as <img src="cid:logo">.
	Inlines []File
	// Headers are further header fields, such as List-Unsubscribe. Those that the other
	// fields make are refused.
	Headers map[string]string
}

// File is an attachment or an inline image.
type File struct {
	// Name is the file's name, without folders.
	Name string
	// ContentType is the media type; "" is found by the name's ending, else
	// application/octet-stream.
	ContentType string
	// ContentID is what cid: names in HTML, of an inline file only; "" is Name.
	ContentID string
	// Content is not nil.
	Content []byte
}

// String names the message without its content.
func (m Message) String() string {
	return fmt.Sprintf("{id=%q template=%q recipients=%d}",
		m.ID, m.Template, len(m.To)+len(m.Cc)+len(m.Bcc))
}

// Format implements fmt.Formatter, so that no verb prints the content.
func (m Message) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, m.String()) }

// LogValue implements slog.LogValuer.
func (m Message) LogValue() slog.Value { return slog.StringValue(m.String()) }
