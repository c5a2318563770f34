package snippets_test

import (
	"context"
	"errors"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xutil"
)

// xutilUser contains a password hash, or the password in a request.
type xutilUser struct{ Password string }

func xutilRegister(ctx context.Context, request xutilUser) (xutilUser, error) {
	hash, err := xutil.Password().EncryptString(ctx, request.Password)
	return xutilUser{Password: hash}, err
}

func xutilLogin(ctx context.Context, request, user xutilUser) error {
	err := xutil.Password().Verify(ctx, request.Password, user.Password)
	if errors.Is(err, xutil.ErrPasswordMismatch) {
		return xerror.Wrap(xerror.Unauthorized, "wrong password", err)
	}
	return err // such as 503 if too many callers wait
}

func TestPasswords_Verify(t *testing.T) {
	t.Parallel()
	user, err := xutilRegister(t.Context(), xutilUser{Password: "correct horse"})
	if err != nil {
		t.Fatal(err)
	}
	if err := xutilLogin(t.Context(), xutilUser{Password: "correct horse"}, user); err != nil {
		t.Errorf("correct password: %v", err)
	}
	err = xutilLogin(t.Context(), xutilUser{Password: "wrong horse"}, user)
	if !errors.Is(err, xutil.ErrPasswordMismatch) {
		t.Errorf("wrong password: %v, want ErrPasswordMismatch", err)
	}
}
