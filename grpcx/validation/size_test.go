package validation_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xerror"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// message is like a request of protoc-gen-validate. allOnly has no method Validate.
type (
	allOnly struct{ *pb.TestRequest }
	message struct{ allOnly }
)

func (allOnly) ValidateAll() error { return errors.New("all") }
func (message) Validate() error    { return errors.New("first") }

// sized returns a message of n bytes in wire format.
func sized(t *testing.T, n int) *pb.TestRequest {
	t.Helper()
	m := &pb.TestRequest{Text: strings.Repeat("a", n)}
	m.Text = m.Text[:2*n-proto.Size(m)]
	if got := proto.Size(m); got != n {
		t.Fatalf("message has %d bytes, want %d", got, n)
	}
	return m
}

func TestMethods_LargeMessage(t *testing.T) {
	t.Run("prefers Validate", func(t *testing.T) {
		small, large := sized(t, 64<<10), sized(t, 64<<10+1)
		for _, tc := range []struct {
			name    string
			request any
			want    string
		}{
			{"64 KiB", &message{allOnly{small}}, "all"},
			{"more than 64 KiB", &message{allOnly{large}}, "first"},
			{"more than 64 KiB, without Validate", &allOnly{large}, "all"},
			{
				"not a proto message",
				&both{all: errors.New("all"), first: errors.New("first")},
				"all",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e := wantError(t, tc.request, xerror.ParameterError)
				if got := failures(t, e)[0].Message; got != tc.want {
					t.Errorf("message = %s, want %s", got, tc.want)
				}
			})
		}
	})

	t.Run("computes the size without allocations", func(t *testing.T) {
		ctx, request := t.Context(), any(&passing{sized(t, 1<<20)})
		if n := testing.AllocsPerRun(100, func() { _ = validation.Methods(ctx, request) }); n != 0 {
			t.Errorf("allocations = %v, want 0", n)
		}
	})
}

// passing is a valid message with both methods.
type passing struct{ *pb.TestRequest }

func (*passing) ValidateAll() error { return nil }
func (*passing) Validate() error    { return nil }
