package snippets_test

import (
	"context"
	"errors"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xutil"
)

// xutilUser has the hash of a password, or in a request the password.
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
	return err // for instance 503 if too many callers wait
}

func TestPasswordIsVerified(t *testing.T) {
	t.Parallel()
	user, err := xutilRegister(t.Context(), xutilUser{Password: "correct horse"})
	if err != nil {
		t.Fatal(err)
	}
	if err := xutilLogin(t.Context(), xutilUser{Password: "correct horse"}, user); err != nil {
		t.Errorf("the right password: %v", err)
	}
	err = xutilLogin(t.Context(), xutilUser{Password: "wrong horse"}, user)
	if !errors.Is(err, xutil.ErrPasswordMismatch) {
		t.Errorf("a wrong password: %v, want ErrPasswordMismatch", err)
	}
}
