package email

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Message is an email. Send does not change it, so it can be sent again.
//
// An address is "user@example.com" or "Name <user@example.com>"; see Address. A formatted
// message shows its ID, its template and the number of recipients, but no content.
type Message struct {
	// ID determines the Message-ID. The same ID and sender domain give the same
	// Message-ID, so that duplicates are recognizable. If it is empty, each Send
	// generates a new one.
	ID string
	// Date is the Date header; the default is the time of Send. The same ID, Date and
	// content produce the same bytes, except for the boundaries of messages with files.
	Date time.Time
	// From is the sender, also of the envelope; the default is Config.From.
	From string
	// To, Cc and Bcc are the recipients. No header contains Bcc.
	To, Cc, Bcc []string
	// ReplyTo contains the addresses for replies; the default is From.
	ReplyTo []string

	// Subject is the subject, unless the template has one.
	Subject string
	// Text and HTML are the content. Set one, or both to support all email clients.
	Text, HTML string
	// Template names a template that produces Subject, Text and HTML from Variables.
	Template string
	// Variables are the variables of the template.
	Variables map[string]any
	// Language selects the language of the template, such as "zh" or "en-GB". The default
	// is the language of the request in ctx, else Config.Language.
	Language string

	// Attachments are attached files.
	Attachments []File
	// Inlines are files that HTML refers to, as in <img src="cid:logo">.
	Inlines []File
	// Headers are additional header fields, such as List-Unsubscribe. Fields that are set
	// from other fields of Message are rejected.
	Headers map[string]string
}

// File is an attachment or an inline image.
type File struct {
	// Name is the file name without directories.
	Name string
	// ContentType is the media type; the default depends on the file extension, else it
	// is application/octet-stream.
	ContentType string
	// ContentID is the target of cid: URLs, for inline files only; the default is Name.
	ContentID string
	// Content must not be nil.
	Content []byte
}

// String describes the message without its content.
func (m Message) String() string {
	return fmt.Sprintf("{id=%q template=%q recipients=%d}",
		m.ID, m.Template, len(m.To)+len(m.Cc)+len(m.Bcc))
}

// Format implements fmt.Formatter. No verb prints the content.
func (m Message) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, m.String()) }

// LogValue implements slog.LogValuer.
func (m Message) LogValue() slog.Value { return slog.StringValue(m.String()) }
