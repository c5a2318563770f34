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

func TestAStatusWithoutAnEnvelopeHasTheCodeThatItsOwnStandsFor(t *testing.T) {
	for code, want := range map[codes.Code]*xerror.ErrorCode{
		codes.Canceled: xerror.Canceled, codes.Unknown: xerror.RemoteError,
		codes.InvalidArgument:  xerror.ParameterError,
		codes.DeadlineExceeded: xerror.UpstreamTimeout, codes.NotFound: xerror.NotFound,
		codes.AlreadyExists:      xerror.Existed,
		codes.PermissionDenied:   xerror.PermissionDenied,
		codes.ResourceExhausted:  xerror.TooManyRequests,
		codes.FailedPrecondition: xerror.UnprocessableEntity, codes.Aborted: xerror.Conflict,
		codes.OutOfRange:    xerror.RangeError,
		codes.Unimplemented: xerror.UnsupportedOp, codes.Internal: xerror.RemoteError,
		codes.Unavailable: xerror.ServiceUnavailable,
		codes.DataLoss:    xerror.RemoteError, codes.Unauthenticated: xerror.Unauthorized,
		codes.Code(77): xerror.RemoteError,
	} {
		sent := status.Error(code, "their text")
		e := rpcstatus.From(sent)
		if e.GetErrorCode() != want || e.GetErrorMessage() != "" || e.GetData() != nil {
			t.Errorf("%v: From = %v, want %s without a text", code, e, want)
		}
		if !errors.Is(e, sent) || status.Code(e) != code ||
			!strings.Contains(e.Error(), "their text") {
			t.Errorf("%v: From = %v, want the status as its cause", code, e)
		}
		if got := errors.Is(e, context.Canceled); got != (code == codes.Canceled) {
			t.Errorf("%v: errors.Is(context.Canceled) = %t", code, got)
		}
		if got := errors.Is(e, context.DeadlineExceeded); got != (code == codes.DeadlineExceeded) {
			t.Errorf("%v: errors.Is(context.DeadlineExceeded) = %t", code, got)
		}
	}
}

func TestWhatIsAnXErrorAlreadyStaysOne(t *testing.T) {
	e := xerror.New(xerror.NotExist, "x")
	if got := rpcstatus.From(e); got != e {
		t.Errorf("From = %v, want the very error", got)
	}
	around := fmt.Errorf("around: %w", e)
	if got := rpcstatus.From(around); !errors.Is(got, around) ||
		got.GetErrorCode() != xerror.NotExist {
		t.Errorf("From = %v, want its code", got)
	}
	if got := rpcstatus.From(context.DeadlineExceeded); !errors.Is(got, context.DeadlineExceeded) ||
		status.Code(rpcstatus.Of(t.Context(), got)) != codes.DeadlineExceeded {
		t.Errorf("From = %v, want a timeout", got)
	}
}

func TestDetailsAreTheFirstOfTheirKind(t *testing.T) {
	st, err := status.New(codes.NotFound, "x").WithDetails(
		&structpb.ListValue{}, // of no use here
		&generate.BaseResponse{Output: "FIRST", Code: 40401, Message: "first"},
		&generate.BaseResponse{Output: "SECOND", Code: 40402},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{
			Field:  "f",
			Reason: "MIN_LEN", Description: "d",
		}}},
		structpb.NewStringValue("second"),
	)
	if err != nil {
		t.Fatal(err)
	}
	e := rpcstatus.From(st.Err())
	if c := e.GetErrorCode(); c.GetOutput() != "FIRST" || c.GetCode() != 40401 ||
		c.GetMessage() != "first" {
		t.Errorf("code = %d %s %q, want the first", c.GetCode(), c, c.GetMessage())
	}
	if got := fmt.Sprint(e.GetData()); got != "[{f min_len d}]" {
		t.Errorf("data = %s, want the violations", got)
	}
}

func TestANumberThatNoErrorCanHaveIsARemoteError(t *testing.T) {
	for _, n := range []uint64{0, 1, 200, 39999, 60000, 1 << 40, 1<<64 - 1} {
		st, err := status.New(codes.NotFound,
			"x").WithDetails(&generate.BaseResponse{Output: "ODD", Code: n})
		if err != nil {
			t.Fatal(err)
		}
		if got := rpcstatus.From(
			st.Err()).GetErrorCode(); got.GetCode() != xerror.RemoteError.GetCode() ||
			got.GetOutput() != "ODD" {
			t.Errorf("code of %d = %d %s, want %d ODD",
				n, got.GetCode(), got, xerror.RemoteError.GetCode())
		}
	}
}

// FuzzFrom reads what any server may send: each input is a google.rpc.Status.
func FuzzFrom(f *testing.F) {
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
		e := rpcstatus.From(err)
		if err == nil {
			if e != nil {
				t.Errorf("From(nil) = %v", e)
			}
			return
		}
		if n := e.GetErrorCode().GetCode(); n < 40000 || n > 59999 {
			t.Errorf("number = %d", n)
		}
		if e.GetErrorCode().GetOutput() == "" || status.Code(e) != status.Code(err) {
			t.Errorf("From = %v of %v", e, err)
		}
		_ = e.Error()
		again := rpcstatus.Of(context.Background(), e)
		if _, failed := proto.Marshal(status.Convert(again).Proto()); failed != nil {
			t.Errorf("the status of the error does not marshal: %v", failed)
		}
		envelopeOfAny(t, again)
	})
}

// envelopeOfAny checks that an error goes out with its envelope.
func envelopeOfAny(t *testing.T, err error) {
	t.Helper()
	if b := envelope(t, err); b.GetOutput() == "" {
		t.Errorf("envelope = %v, want a label", b)
	}
}

func TestALimitOfTheLibraryIsNotImpatience(t *testing.T) {
	err := status.Error(codes.ResourceExhausted,
		"grpc: received message larger than max (5000005 vs. 4194304)")
	if got := rpcstatus.From(err); got.GetErrorCode() != xerror.RemoteError {
		t.Errorf("From = %v, want REMOTE_ERROR: to wait does not help", got)
	}
}
