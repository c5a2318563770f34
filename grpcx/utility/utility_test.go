package utility_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/utility"
)

// incoming returns a context with incoming metadata.
func incoming(ctx context.Context, pairs ...string) context.Context {
	return metadata.NewIncomingContext(ctx, metadata.Pairs(pairs...))
}

func TestExtractMetadata(t *testing.T) {
	t.Run("returns the first non-blank value", func(t *testing.T) {
		for _, tc := range []struct {
			name  string
			pairs []string
			want  string
		}{
			{"one value", []string{"app_access_id", "7"}, "7"},
			{"several values", []string{"app_access_id", "7", "app_access_id", "8"}, "7"},
			{
				"after blank values",
				[]string{"app_access_id", "", "app_access_id", " \t", "app_access_id", "7"},
				"7",
			},
			{"with spaces around", []string{"app_access_id", " 7 "}, " 7 "},
			{"with dashes", []string{"app-access-id", "7"}, "7"},
			{"in capitals", []string{"App-Access-ID", "7"}, "7"},
			{"in both spellings", []string{"app-access-id", "8", "app_access_id", "7"}, "7"},
			{
				"blank in the first spelling",
				[]string{"app_access_id", " ", "app-access-id", "8"},
				"8",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, err := utility.ExtractMetadata(incoming(t.Context(), tc.pairs...),
					constant.MetadataAppAccessID)
				if got != tc.want || err != nil {
					t.Errorf("ExtractMetadata = %q, %v, want %q", got, err, tc.want)
				}
			})
		}
	})

	t.Run("returns NotExist with the key for a missing value", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			ctx  context.Context
		}{
			{"no context", nil},
			{"no metadata", t.Context()},
			{"other keys", incoming(t.Context(), "app_access_id", "7", "authorization", "hunter2")},
			{
				"blank values",
				incoming(t.Context(), "app_secret_key", "", "app_secret_key", " \t ",
					"app-secret-key", "\u00a0"),
			},
			{
				"outgoing metadata",
				metadata.AppendToOutgoingContext(t.Context(), "app_secret_key", "hunter2"),
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, err := utility.ExtractMetadata(tc.ctx, constant.MetadataAppSecretKey)
				if got != "" || !errors.Is(err, xerror.NotExist) {
					t.Fatalf("ExtractMetadata = %q, %v, want NotExist", got, err)
				}
				const want = `metadata "app_secret_key" is missing`
				if err.GetErrorMessage().String() != want {
					t.Errorf("message = %q, want %q", err.GetErrorMessage(), want)
				}
				if text := fmt.Sprint(err, err.GetData()); strings.Contains(text, "hunter2") {
					t.Errorf("the error contains a value: %s", text)
				}
			})
		}
	})

	t.Run("reads a key of the application", func(t *testing.T) {
		const tenant constant.Metadata = "shop_tenant"
		got, err := utility.ExtractMetadata(incoming(t.Context(), "shop-tenant", "7"), tenant)
		if got != "7" || err != nil {
			t.Errorf("ExtractMetadata = %q, %v; want 7", got, err)
		}
	})

	t.Run("ignores case", func(t *testing.T) {
		for _, key := range []constant.Metadata{"X-Tenant", "x-tenant", "X_Tenant"} {
			got, err := utility.ExtractMetadata(incoming(t.Context(), "x-tenant", "7"), key)
			if got != "7" || err != nil {
				t.Errorf("ExtractMetadata of %s = %q, %v; want 7", key, got, err)
			}
		}
	})

	t.Run("does not allocate", func(t *testing.T) {
		const tenant constant.Metadata = "tenant"
		ctx := incoming(t.Context(), "tenant", "7", "x-request-source", "orders")
		n := testing.AllocsPerRun(100, func() {
			if _, err := utility.ExtractMetadata(ctx, tenant); err != nil ||
				utility.Source(ctx) != "orders" {
				t.Error("the value or the source is missing")
			}
		})
		if n != 0 {
			t.Errorf("allocations = %v, want 0", n)
		}
	})

	t.Run("reads a key with dashes", func(t *testing.T) {
		ctx := incoming(t.Context(), "accept-language", "zh")
		got, err := utility.ExtractMetadata(ctx, constant.MetadataAcceptLanguage)
		if got != "zh" || err != nil {
			t.Errorf("ExtractMetadata = %q, %v; want zh", got, err)
		}
		_, err = utility.ExtractMetadata(t.Context(), constant.MetadataAcceptLanguage)
		if !errors.Is(err, xerror.NotExist) {
			t.Errorf("error = %v, want NotExist", err)
		}
	})

	t.Run("reads through the context of a call", func(t *testing.T) {
		call := xctx.NewRequest(incoming(t.Context(), "app_access_id", "7"), context.Background())
		got, err := utility.ExtractMetadata(call, constant.MetadataAppAccessID)
		if got != "7" || err != nil {
			t.Errorf("ExtractMetadata = %q, %v; want 7", got, err)
		}
	})
}

func TestSource(t *testing.T) {
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"no context", nil, ""},
		{"no metadata", t.Context(), ""},
		{"sent", incoming(t.Context(), "x_request_source", "orders"), "orders"},
		{"sent with dashes", incoming(t.Context(), "x-request-source", "orders"), "orders"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := utility.Source(tc.ctx); got != tc.want {
				t.Errorf("Source = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRequestUUID(t *testing.T) {
	call := xctx.NewRequest(incoming(t.Context(), "x_request_uuid", "not valid"), nil)
	call.SetID("valid")
	derived, cancel := context.WithCancel(call)
	defer cancel()
	if got := utility.RequestUUID(derived); got != "valid" {
		t.Errorf("RequestUUID = %q, want the ID of the call", got)
	}
	if got := utility.RequestUUID(incoming(t.Context(), "x_request_uuid", "unchecked")); got != "" {
		t.Errorf("RequestUUID outside a call = %q, want empty", got)
	}
	if got := utility.RequestUUID(nil); got != "" { //nolint:staticcheck // a nil context is allowed
		t.Errorf("RequestUUID(nil) = %q, want empty", got)
	}
}
