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

// message is a request as protoc-gen-validate completes it; allOnly has no Validate.
type (
	allOnly struct{ *pb.TestRequest }
	message struct{ allOnly }
)

func (allOnly) ValidateAll() error { return errors.New("all") }
func (message) Validate() error    { return errors.New("first") }

// sized returns a message that takes n bytes on the wire.
func sized(t *testing.T, n int) *pb.TestRequest {
	t.Helper()
	m := &pb.TestRequest{Text: strings.Repeat("a", n)}
	m.Text = m.Text[:2*n-proto.Size(m)]
	if got := proto.Size(m); got != n {
		t.Fatalf("made %d bytes, want %d", got, n)
	}
	return m
}

// TestOfALargeMessageTheFirstFailureIsSought: ValidateAll keeps some 170 bytes for each
// of up to two million elements.
func TestOfALargeMessageTheFirstFailureIsSought(t *testing.T) {
	small, large := sized(t, 64<<10), sized(t, 64<<10+1)
	for _, tt := range []struct {
		name    string
		request any
		want    string
	}{
		{"64 KiB", &message{allOnly{small}}, "all"},
		{"more", &message{allOnly{large}}, "first"},
		{"more, without Validate", &allOnly{large}, "all"},
		{"no message", &both{all: errors.New("all"), first: errors.New("first")}, "all"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := list(t, refused(t, tt.request,
				xerror.ParameterError))[0].Message; got != tt.want {
				t.Errorf("got what %s finds, want %s", got, tt.want)
			}
		})
	}
}

// passing is a message with both methods and no objection.
type passing struct{ *pb.TestRequest }

func (*passing) ValidateAll() error { return nil }
func (*passing) Validate() error    { return nil }

func TestTheSizeOfAMessageCostsNoAllocation(t *testing.T) {
	ctx, request := t.Context(), any(&passing{sized(t, 1<<20)})
	if n := testing.AllocsPerRun(100, func() { _ = validation.Methods(ctx, request) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
