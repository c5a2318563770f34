package main

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/userv1"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	users := s.users()
	changes, err := users.Watch(streamContext(t), &userv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := changes.Header(); err != nil {
		t.Fatal(err)
	}
	if _, err := users.Register(t.Context(), person("ada")); err != nil {
		t.Fatal(err)
	}
	s.Request(http.MethodPost, register, body(person("eve")))
	for _, want := range []string{"ada", "eve"} {
		if change, err := changes.Recv(); err != nil || change.GetUser().GetUsername() != want {
			t.Errorf("change = %v, %v, want %s", change, err, want)
		}
	}
}

func TestImport(t *testing.T) {
	t.Parallel()

	t.Run("skips existing users", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		users := s.users()
		s.Request(http.MethodPost, register, body(person("ada")))
		stream, err := users.Import(streamContext(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ada", "eve", "bob", "eve"} {
			if err := stream.Send(&userv1.ImportRequest{User: person(name)}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := stream.CloseAndRecv()
		if err != nil || got.GetImported() != 2 || got.GetKnown() != 2 ||
			got.GetBaseResponse().GetCode() != 200 {
			t.Errorf("Import = %v, %v, want 2 and 2", got, err)
		}
	})

	t.Run("stops at an invalid user", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		stream, err := s.users().Import(streamContext(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []*userv1.RegisterRequest{person("ada"), person("e"), nil} {
			// grpc returns io.EOF unwrapped
			if err := stream.Send(&userv1.ImportRequest{User: one}); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		_, err = stream.CloseAndRecv()
		list, _ := xerror.From(err).GetData().([]xvalid.FieldError)
		if got := fields(list); !slices.Equal(got, []string{"user.username:min"}) {
			t.Errorf("error = %v, want a failure of user.username", err)
		}
		var n int64
		if err := xdb.MustGetDB(s.Context()).Model(&entity.User{}).Count(&n).Error; err != nil ||
			n != 1 {
			t.Errorf("%d users, %v, want the user before the invalid one", n, err)
		}
	})
}
