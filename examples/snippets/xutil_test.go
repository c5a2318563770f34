package snippets_test

import (
	"context"
	"errors"
	"testing"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xUtil "github.com/plinthgo/plinth/core/common/xutil"
)

// xutilUser has the hash of a password, or in a request the password.
type xutilUser struct{ Password string }

func xutilRegister(request xutilUser) (xutilUser, error) {
	hash, err := xUtil.Password().EncryptString(request.Password)
	return xutilUser{Password: hash}, err
}

func xutilLogin(ctx context.Context, request, user xutilUser) error {
	if err := xUtil.Password().Verify(request.Password, user.Password); err != nil {
		return xError.NewError(ctx, xError.Unauthorized, "wrong password", false, err)
	}
	return nil
}

func TestPasswordIsVerified(t *testing.T) {
	t.Parallel()
	user, err := xutilRegister(xutilUser{Password: "correct horse"})
	if err != nil {
		t.Fatal(err)
	}
	if err := xutilLogin(t.Context(), xutilUser{Password: "correct horse"}, user); err != nil {
		t.Errorf("the right password: %v", err)
	}
	err = xutilLogin(t.Context(), xutilUser{Password: "wrong horse"}, user)
	if !errors.Is(err, xUtil.ErrPasswordMismatch) {
		t.Errorf("a wrong password: %v, want ErrPasswordMismatch", err)
	}
}
