// Package logic implements the application rules. It is independent of HTTP; its errors
// carry the error codes of responses.
package logic

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
	"github.com/plinthgo/plinth/examples/notifications/internal/repository"
)

var log = xlog.WithName(xlog.NamedLOGC, "user")

// SignUp stores a user, the welcome email and the webhook in one transaction. If the name
// exists, it sends nothing.
func SignUp(ctx context.Context, username, email string) (*entity.User, error) {
	user := &entity.User{Username: username, Email: strings.ToLower(email)}
	err := xdb.Transaction(ctx, func(ctx context.Context) error {
		if err := repository.Create(ctx, user); err != nil {
			return err
		}
		if err := notify.Welcome(ctx, user); err != nil {
			return err
		}
		return notify.UserCreated(ctx, user)
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return nil, xerror.New(xerror.Existed, "the username or the e-mail address is taken")
	}
	if err != nil {
		return nil, err
	}
	log.Info(ctx, "user signed up", slog.Any("user", user.ID))
	return user, nil
}
