package notifyx

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// Sender sends the messages of one type. It must be safe for concurrent use. Package
// notifytest tests the following rules.
//
// A Sender rejects an invalid message with InvalidMessage before it sends anything. It
// returns an ErrPermanent if a retry cannot succeed, and an error with a RetryAfter
// method to set the delay of the retry. Other errors are temporary. Errors contain no
// recipient and no content. A message with an ID that was sent before is sent again, and
// the receiver can recognize it as a duplicate.
type Sender interface {
	// Send sends the message without changing it, and returns soon after ctx is done.
	Send(ctx context.Context, m *Message) error
}

// TemplateSender is a Sender with its own templates, such as those stored by an SMS
// provider. The router passes messages with such a template unrendered.
type TemplateSender interface {
	Sender
	HasTemplate(name string) bool
}

// RetryAfterer is an error that sets the delay before the next attempt.
type RetryAfterer interface {
	error
	RetryAfter() time.Duration
}

// Result is the outcome of sending a message, on success and on failure.
type Result struct {
	Success bool `json:"success"`
	// Message is a text for users, without recipients and causes.
	Message string `json:"message"`
	// Time is when Send returned, in UTC.
	Time time.Time `json:"time"`
	// ErrorCode is the xerror code, or 0 on success.
	ErrorCode int `json:"error_code"`
	// ID is the ID of the message.
	ID string `json:"id"`
}

func newResult(id string, err error) Result {
	r := Result{Success: err == nil, Message: "sent", Time: time.Now().UTC(), ID: id}
	if err != nil {
		code := xerror.From(err).GetErrorCode()
		r.Message, r.ErrorCode = code.GetMessage(), code.GetCode()
	}
	return r
}
