package rpcstatus

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/generate"
)

const (
	// maxText bounds a text of a status, in bytes. The status' own travels three times as
	// long where it is not ASCII.
	maxText = 512
	// maxName bounds request id and label, in bytes: neither has a bound where it comes
	// from another service.
	maxName = 128
	// maxData bounds the detail with an error's data, in bytes.
	maxData = 2560
)

// statusOf writes e as a status with its details.
func statusOf(ctx context.Context, e *xerror.Error) *status.Status {
	_, r := e.Response(ctx, xbase.ProfilePlinth)
	b := envelopeOf(&r)
	text := b.GetMessage()
	if b.ErrorMessage != nil {
		text += ": " + b.GetErrorMessage()
	}
	s := &spb.Status{Code: int32(Code(e)), Message: Clean(text)} // at most 16
	for _, detail := range []proto.Message{b, dataOf(r.Data)} {
		if detail == nil {
			continue
		}
		if packed, err := anypb.New(detail); err == nil {
			s.Details = append(s.Details, packed)
		}
	}
	return status.FromProto(s)
}

// envelopeOf returns the envelope of an error as a message.
func envelopeOf(r *xbase.BaseResponse) *generate.BaseResponse {
	b := &generate.BaseResponse{
		Context: cut(r.Context, maxName), Output: cut(r.Output, maxName),
		Code: uint64(r.Code), Message: Clean(r.Message), // not negative
	}
	if r.ErrorMessage != "" {
		b.ErrorMessage = new(Clean(r.ErrorMessage))
	}
	if r.Overhead != 0 {
		b.Overhead = new(r.Overhead)
	}
	return b
}

// Clean returns a text that a proto3 string can hold, at most 512 bytes of it.
func Clean(s string) string { return cut(s, maxText) }

// cut is Clean with another bound.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// dataOf returns the detail that says what an error's data says, or nil where there is
// none or it is too large.
func dataOf(data any) proto.Message {
	switch d := data.(type) {
	case nil:
		return nil
	case []xvalid.FieldError:
		return violationsOf(d)
	default:
		return valueOf(d)
	}
}

// violationsOf returns as many failures as there is room for.
func violationsOf(failures []xvalid.FieldError) proto.Message {
	out := &errdetails.BadRequest{}
	size := 0
	for _, f := range failures {
		v := &errdetails.BadRequest_FieldViolation{
			Field:       Clean(f.Field),
			Description: Clean(f.Message), Reason: reason(f.Tag),
		}
		if size += proto.Size(v) + 3; size > maxData { // a tag and a length of two bytes
			break
		}
		out.FieldViolations = append(out.FieldViolations, v)
	}
	return out
}

// reason returns the name of a rule as google.rpc.BadRequest wants a reason: UPPER_SNAKE.
func reason(tag string) string {
	return notUpperSnake.ReplaceAllString(strings.ToUpper(Clean(tag)), "_")
}

var notUpperSnake = regexp.MustCompile(`[^A-Z0-9]`)

// valueOf returns data as JSON has it. What JSON cannot hold is left out: the error
// itself is what counts.
func valueOf(data any) proto.Message {
	text, err := json.Marshal(data)
	if err != nil || len(text) > maxData {
		return nil
	}
	v := &structpb.Value{}
	if v.UnmarshalJSON(text) != nil || proto.Size(v) > maxData {
		return nil
	}
	return v
}
