package client

import (
	"strings"
	"testing"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestCheckName(t *testing.T) {
	health := healthpb.File_grpc_health_v1_health_proto
	for _, tc := range []struct {
		name, service string
		files         []protoreflect.FileDescriptor
		want          string // of the error
	}{
		{"no generated code", "billing.Invoices", nil, ""},
		{"services of gRPC only", "billing.Invoices", []protoreflect.FileDescriptor{health}, ""},
		{"a service of gRPC", "grpc.health.v1.Health", []protoreflect.FileDescriptor{health}, ""},
		{"another service", "billing.Invoices", []protoreflect.FileDescriptor{
			health, testproto.File_grpcx_internal_testproto_test_proto,
		}, "contains plinth.grpcx.testproto."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := new(protoregistry.Files)
			for _, file := range tc.files {
				if err := files.RegisterFile(file); err != nil {
					t.Fatal(err)
				}
			}
			err := checkName(files, tc.service, "")
			if (err == nil) != (tc.want == "") ||
				err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}
