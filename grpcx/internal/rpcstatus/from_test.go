package rpcstatus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

func TestFromStatus(t *testing.T) {
	t.Run("maps a status without an envelope by its code", func(t *testing.T) {
		for code, want := range map[codes.Code]*xerror.ErrorCode{
			codes.Canceled:           xerror.Canceled,
			codes.Unknown:            xerror.RemoteError,
			codes.InvalidArgument:    xerror.ParameterError,
			codes.DeadlineExceeded:   xerror.UpstreamTimeout,
			codes.NotFound:           xerror.NotFound,
			codes.AlreadyExists:      xerror.Existed,
			codes.PermissionDenied:   xerror.PermissionDenied,
			codes.ResourceExhausted:  xerror.TooManyRequests,
			codes.FailedPrecondition: xerror.UnprocessableEntity,
			codes.Aborted:            xerror.Conflict,
			codes.OutOfRange:         xerror.RangeError,
			codes.Unimplemented:      xerror.UnsupportedOp,
			codes.Internal:           xerror.RemoteError,
			codes.Unavailable:        xerror.ServiceUnavailable,
			codes.DataLoss:           xerror.RemoteError,
			codes.Unauthenticated:    xerror.Unauthorized,
			codes.Code(77):           xerror.RemoteError,
		} {
			sent := status.Error(code, "remote text")
			e := rpcstatus.FromStatus(sent)
			if e.GetErrorCode() != want || e.GetErrorMessage() != "" || e.GetData() != nil {
				t.Errorf("%v: FromStatus = %v, want %s without a message", code, e, want)
			}
			if !errors.Is(e, sent) || status.Code(e) != code ||
				!strings.Contains(e.Error(), "remote text") {
				t.Errorf("%v: FromStatus = %v, want the status as its cause", code, e)
			}
			if got := errors.Is(e, context.Canceled); got != (code == codes.Canceled) {
				t.Errorf("%v: errors.Is(context.Canceled) = %t", code, got)
			}
			got := errors.Is(e, context.DeadlineExceeded)
			if got != (code == codes.DeadlineExceeded) {
				t.Errorf("%v: errors.Is(context.DeadlineExceeded) = %t", code, got)
			}
		}
	})

	t.Run("returns an xerror unchanged", func(t *testing.T) {
		e := xerror.New(xerror.NotExist, "x")
		if got := rpcstatus.FromStatus(e); got != e {
			t.Errorf("FromStatus = %v, want the same error", got)
		}
		wrapped := fmt.Errorf("around: %w", e)
		if got := rpcstatus.FromStatus(wrapped); !errors.Is(got, wrapped) ||
			got.GetErrorCode() != xerror.NotExist {
			t.Errorf("FromStatus = %v, want the code of the wrapped error", got)
		}
		got := rpcstatus.FromStatus(context.DeadlineExceeded)
		if !errors.Is(got, context.DeadlineExceeded) ||
			status.Code(rpcstatus.ToStatus(t.Context(), got)) != codes.DeadlineExceeded {
			t.Errorf("FromStatus = %v, want a timeout", got)
		}
	})

	t.Run("reads the first detail of each type", func(t *testing.T) {
		st, err := status.New(codes.NotFound, "x").WithDetails(
			&structpb.ListValue{}, // ignored
			&generate.BaseResponse{Output: "FIRST", Code: 40401, Message: "first"},
			&generate.BaseResponse{Output: "SECOND", Code: 40402},
			&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{
				Field: "f", Reason: "MIN_LEN", Description: "d",
			}}},
			structpb.NewStringValue("second"),
		)
		if err != nil {
			t.Fatal(err)
		}
		e := rpcstatus.FromStatus(st.Err())
		if c := e.GetErrorCode(); c.GetOutput() != "FIRST" || c.GetCode() != 40401 ||
			c.GetMessage() != "first" {
			t.Errorf("code = %d %s %q, want the first", c.GetCode(), c, c.GetMessage())
		}
		if got := fmt.Sprint(e.GetData()); got != "[{f min_len d}]" {
			t.Errorf("data = %s, want the violations", got)
		}
	})

	t.Run("replaces a code out of range", func(t *testing.T) {
		for _, n := range []uint64{0, 1, 200, 39999, 60000, 1 << 40, 1<<64 - 1} {
			st, err := status.New(codes.NotFound, "x").
				WithDetails(&generate.BaseResponse{Output: "OTHER", Code: n})
			if err != nil {
				t.Fatal(err)
			}
			got := rpcstatus.FromStatus(st.Err()).GetErrorCode()
			if got.GetCode() != xerror.RemoteError.GetCode() || got.GetOutput() != "OTHER" {
				t.Errorf("code of %d = %d %s, want %d OTHER",
					n, got.GetCode(), got, xerror.RemoteError.GetCode())
			}
		}
	})

	t.Run("maps a size limit of grpc-go to a remote error", func(t *testing.T) {
		err := status.Error(codes.ResourceExhausted,
			"grpc: received message larger than max (5000005 vs. 4194304)")
		if got := rpcstatus.FromStatus(err); got.GetErrorCode() != xerror.RemoteError {
			t.Errorf("FromStatus = %v, want REMOTE_ERROR", got)
		}
	})
}

// FuzzFromStatus fuzzes a google.rpc.Status in wire format.
func FuzzFromStatus(f *testing.F) {
	quiet(f)
	seed := func(details ...proto.Message) {
		s := &spb.Status{Code: 5, Message: "x"}
		for _, d := range details {
			packed, err := anypb.New(d)
			if err != nil {
				f.Fatal(err)
			}
			s.Details = append(s.Details, packed)
		}
		data, err := proto.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	seed()
	seed(&generate.BaseResponse{Output: "NOT_EXIST", Code: 40000})
	seed(&generate.BaseResponse{Output: "X", Code: 7}, &errdetails.BadRequest{})
	seed(structpb.NewNumberValue(1), &generate.BaseResponse{Output: "X", Code: 1 << 63})
	seed(&structpb.Value{}, &anypb.Any{TypeUrl: "/xBase.BaseResponse", Value: []byte{0xff}})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &spb.Status{}
		if proto.Unmarshal(data, s) != nil {
			return
		}
		err := status.ErrorProto(s)
		e := rpcstatus.FromStatus(err)
		if err == nil {
			if e != nil {
				t.Errorf("FromStatus(nil) = %v, want nil", e)
			}
			return
		}
		if n := e.GetErrorCode().GetCode(); n < 40000 || n > 59999 {
			t.Errorf("code = %d, want 40000 to 59999", n)
		}
		if e.GetErrorCode().GetOutput() == "" || status.Code(e) != status.Code(err) {
			t.Errorf("FromStatus(%v) = %v, want a label and the same status code", err, e)
		}
		_ = e.Error()
		converted := rpcstatus.ToStatus(context.Background(), e)
		if _, err := proto.Marshal(status.Convert(converted).Proto()); err != nil {
			t.Errorf("cannot marshal the status of the error: %v", err)
		}
		checkEnvelope(t, converted)
	})
}

// checkEnvelope checks that the status of an error has an envelope.
func checkEnvelope(t *testing.T, err error) {
	t.Helper()
	if b := envelope(t, err); b.GetOutput() == "" {
		t.Errorf("envelope = %v, want a label", b)
	}
}
