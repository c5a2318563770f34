package main

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
	"github.com/plinthgo/plinth/examples/grpc/userv1"
)

func TestAuthenticate(t *testing.T) {
	t.Parallel()

	t.Run("rejects invalid credentials", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		users := userv1.NewUserServiceClient(s.dial())
		other, _, err := logic.CreateApp(s.Context(), "other")
		if err != nil {
			t.Fatal(err)
		}
		id, key := s.id.String(), s.secret
		for _, tc := range []struct {
			name  string
			pairs []string
			rpc   codes.Code
			want  *xerror.ErrorCode // nil for success
		}{
			{name: "no metadata", rpc: codes.InvalidArgument, want: xerror.NotExist},
			{
				name: "no secret", pairs: []string{"app_access_id", id}, rpc: codes.InvalidArgument,
				want: xerror.NotExist,
			},
			{
				name: "no id", pairs: []string{"app_secret_key", key}, rpc: codes.InvalidArgument,
				want: xerror.NotExist,
			},
			{
				name: "blank id", pairs: []string{"app_access_id", "  ", "app_secret_key", key},
				rpc: codes.InvalidArgument, want: xerror.NotExist,
			},
			{
				name: "blank secret", pairs: []string{"app_access_id", id, "app_secret_key", " "},
				rpc: codes.InvalidArgument, want: xerror.NotExist,
			},
			{
				name:  "not a number",
				pairs: []string{"app_access_id", "shop", "app_secret_key", key},
				rpc:   codes.InvalidArgument, want: xerror.ValidationError,
			},
			{
				name: "negative", pairs: []string{"app_access_id", "-1", "app_secret_key", key},
				rpc: codes.InvalidArgument, want: xerror.ValidationError,
			},
			{
				name:  "too large",
				pairs: []string{"app_access_id", "99999999999999999999", "app_secret_key", key},
				rpc:   codes.InvalidArgument, want: xerror.ValidationError,
			},
			{
				name: "unknown id", pairs: []string{"app_access_id", "1", "app_secret_key", key},
				rpc: codes.Unauthenticated, want: xerror.Unauthorized,
			},
			{
				name: "id 0", pairs: []string{"app_access_id", "0", "app_secret_key", key},
				rpc: codes.Unauthenticated, want: xerror.Unauthorized,
			},
			{
				name:  "wrong secret",
				pairs: []string{"app_access_id", id, "app_secret_key", key + "0"},
				rpc:   codes.Unauthenticated, want: xerror.Unauthorized,
			},
			{
				name: "digest as secret",
				pairs: []string{
					"app_access_id", id, "app_secret_key", xutil.Encryption().SHA256(key),
				},
				rpc: codes.Unauthenticated, want: xerror.Unauthorized,
			},
			{
				name:  "secret of another application",
				pairs: []string{"app_access_id", other.ID.String(), "app_secret_key", key},
				rpc:   codes.Unauthenticated, want: xerror.Unauthorized,
			},
			{name: "valid", pairs: []string{"app_access_id", id, "app_secret_key", key}},
			{
				name:  "valid with dashes",
				pairs: []string{"app-access-id", id, "app-secret-key", key},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				ctx := metadata.AppendToOutgoingContext(streamContext(t), tc.pairs...)
				_, unary := users.Get(ctx, &userv1.GetRequest{Id: 1})
				changes, stream := users.Watch(ctx, &userv1.WatchRequest{})
				if stream == nil && tc.want == nil {
					_, stream = changes.Header() // waits until the service watches
				} else if stream == nil {
					_, stream = changes.Recv()
				}
				if tc.want == nil {
					if xerror.From(unary).GetErrorCode() != xerror.ResourceNotFound ||
						stream != nil {
						t.Errorf("Get = %v, Watch = %v, want both accepted", unary, stream)
					}
					return
				}
				for method, err := range map[string]error{"Get": unary, "Watch": stream} {
					if xerror.From(err).GetErrorCode() != tc.want || status.Code(err) != tc.rpc {
						t.Errorf("%s = %v, want %s and %s",
							method, err, tc.want.GetOutput(), tc.rpc)
					}
					if strings.Contains(err.Error(), key) {
						t.Errorf("%s exposes the secret: %v", method, err)
					}
				}
			})
		}
	})

	t.Run("returns the same error for a wrong ID and a wrong secret", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		_, unknown := logic.VerifyApp(s.Context(), 1, s.secret)
		_, wrong := logic.VerifyApp(s.Context(), s.id, "cs_0")
		if unknown == nil || wrong == nil || unknown.Error() != wrong.Error() {
			t.Errorf("errors = %v and %v", unknown, wrong)
		}
	})

	t.Run("rejects a deleted application", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		users := s.users()
		if _, err := users.Register(t.Context(), person("ada")); err != nil {
			t.Fatal(err)
		}
		err := xdb.MustGetDB(s.Context()).Delete(&entity.App{}, "id = ?", s.id).Error
		if err != nil {
			t.Fatal(err)
		}
		_, err = users.Register(t.Context(), person("eve"))
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("Register = %v, want Unauthenticated", err)
		}
	})

	t.Run("does not apply to the health service", func(t *testing.T) {
		t.Parallel()
		health := grpc_health_v1.NewHealthClient(start(t).dial())
		for _, name := range []string{"", userv1.UserService_ServiceDesc.ServiceName} {
			request := &grpc_health_v1.HealthCheckRequest{Service: name}
			if _, err := health.Check(t.Context(), request); err != nil {
				t.Errorf("Check(%q) = %v", name, err)
			}
		}
	})
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	s := start(t)
	users := s.users()
	if _, err := users.Register(t.Context(), person("ada")); err != nil {
		t.Fatal(err)
	}
	_, invalid := users.Register(t.Context(),
		&userv1.RegisterRequest{Username: "x", Email: "x", Password: password})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "app_access_id", "shop", "app_secret_key",
		s.secret)
	_, denied := users.Get(ctx, &userv1.GetRequest{Id: 1})

	var app entity.App
	var ada entity.User
	if err := xdb.MustGetDB(s.Context()).Take(&app, "id = ?", s.id).Error; err != nil {
		t.Fatal(err)
	}
	if err := xdb.MustGetDB(s.Context()).Take(&ada, "username = ?", "ada").Error; err != nil {
		t.Fatal(err)
	}
	if app.Secret != xutil.Encryption().SHA256(s.secret) ||
		!strings.HasPrefix(ada.Password, "$argon2id$") {
		t.Errorf("stored: %q and %q, want digests", app.Secret, ada.Password)
	}
	for _, secret := range []string{s.secret, app.Secret, password, ada.Password} {
		for where, text := range map[string]string{
			"log": s.LogText(), "validation error": invalid.Error(),
			"authentication error": denied.Error(),
		} {
			if strings.Contains(text, secret) {
				t.Errorf("%q occurs in %s", secret, where)
			}
		}
	}
}
