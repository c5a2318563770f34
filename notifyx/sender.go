package notifyx

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// Sender sends the messages of one type. It is safe for concurrent use. Package
// notifytest says what it must do.
//
// It refuses what is wrong with a message as InvalidMessage does, before anything leaves.
// An error that trying again cannot mend is an ErrPermanent, one that says when to try
// again has a method RetryAfter, and every other one is taken for temporary. No error
// shows a recipient or a content. A message with an ID that was sent before is sent
// again, in a way that the receiver can tell.
type Sender interface {
	// Send sends the message, which it does not change. It ends soon after ctx.
	Send(ctx context.Context, m *Message) error
}

// TemplateSender is a Sender with templates of its own, such as those that a provider of
// text messages keeps. It gets a message whose template it has as it is.
type TemplateSender interface {
	Sender
	HasTemplate(name string) bool
}

// RetryAfterer is implemented by an error that says how long to wait before the next try.
type RetryAfterer interface {
	error
	RetryAfter() time.Duration
}

// Result is what became of a message. It is filled on success and on failure.
type Result struct {
	Success bool `json:"success"`
	// Message is for people, and shows neither recipients nor causes.
	Message string `json:"message"`
	// Time is when the sending ended, in UTC.
	Time time.Time `json:"time"`
	// ErrorCode is the number of the xerror code, 0 on success.
	ErrorCode int `json:"error_code"`
	// ID is the message's.
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
