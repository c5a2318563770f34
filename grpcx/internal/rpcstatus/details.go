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
	// maxText limits each text of a status, in bytes. Percent-encoding triples the status
	// message if it is not ASCII.
	maxText = 512
	// maxName limits the request ID and the label, in bytes. Other services may send
	// longer ones.
	maxName = 128
	// maxData limits the detail with an error's data, in bytes.
	maxData = 2560
)

// statusOf returns the status of e with its details.
func statusOf(ctx context.Context, e *xerror.Error) *status.Status {
	_, r := e.Response(ctx, xbase.ProfilePlinth)
	b := envelopeOf(&r)
	text := b.GetMessage()
	if b.ErrorMessage != nil {
		text += ": " + b.GetErrorMessage()
	}
	s := &spb.Status{Code: int32(Code(e)), Message: Text(text)} // a gRPC code is at most 16
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

// envelopeOf converts the envelope of an error to a message.
func envelopeOf(r *xbase.BaseResponse) *generate.BaseResponse {
	b := &generate.BaseResponse{
		Context: truncate(r.Context, maxName),
		Output:  truncate(r.Output, maxName),
		Code:    uint64(r.Code), // is not negative
		Message: Text(r.Message),
	}
	if r.ErrorMessage != "" {
		b.ErrorMessage = new(Text(r.ErrorMessage))
	}
	if r.Overhead != 0 {
		b.Overhead = new(r.Overhead)
	}
	return b
}

// Text returns s as valid UTF-8, truncated to 512 bytes.
func Text(s string) string { return truncate(s, maxText) }

// truncate returns s as valid UTF-8 of at most n bytes.
func truncate(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// dataOf returns the detail for an error's data. It returns nil if there is no data or if
// it is too large.
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

// violationsOf returns the leading failures that fit within maxData.
func violationsOf(failures []xvalid.FieldError) proto.Message {
	out := &errdetails.BadRequest{}
	size := 0
	for _, f := range failures {
		v := &errdetails.BadRequest_FieldViolation{
			Field:       Text(f.Field),
			Description: Text(f.Message),
			Reason:      reason(f.Tag),
		}
		if size += proto.Size(v) + 3; size > maxData { // 3 bytes for the tag and the length
			break
		}
		out.FieldViolations = append(out.FieldViolations, v)
	}
	return out
}

// reason returns the name of a rule in UPPER_SNAKE_CASE, as google.rpc.BadRequest
// requires.
func reason(tag string) string {
	return notUpperSnake.ReplaceAllString(strings.ToUpper(Text(tag)), "_")
}

var notUpperSnake = regexp.MustCompile(`[^A-Z0-9]`)

// valueOf returns data converted through JSON, or nil if JSON cannot represent it.
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
