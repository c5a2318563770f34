// Package logic implements the application. Its functions are typed handlers of HTTP, and
// the gRPC service calls them too. Their errors have error codes for both.
package logic

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"unicode"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/internal/feed"
	"github.com/plinthgo/plinth/examples/grpc/internal/repository"
	"github.com/plinthgo/plinth/examples/grpc/internal/rule"
)

var log = xlog.WithName(xlog.NamedLOGC, "user")

// errTaken is 409 over HTTP and ABORTED over gRPC.
var errTaken = xerror.New(xerror.DuplicateEntry, "the username or the e-mail address is taken")

// errUnreadable rejects names and addresses that look like others.
var errUnreadable = xerror.New(xerror.ParameterError,
	"the username or the e-mail address has leading or trailing spaces or an unprintable character")

// readable reports whether text is trimmed and printable.
func readable(text string) bool {
	return text == strings.TrimSpace(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Register creates a user and publishes it to watchers. Names and addresses are
// case-insensitive. The unique indexes reject duplicates, also of concurrent calls; the
// query only avoids hashing the password of a duplicate.
func Register(ctx context.Context, in *rule.Registration) (*entity.User, error) {
	if !readable(in.Username) || !readable(in.Email) {
		return nil, errUnreadable
	}
	user := &entity.User{Username: strings.ToLower(in.Username), Email: strings.ToLower(in.Email)}
	taken, err := repository.Taken(ctx, user.Username, user.Email)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, errTaken
	}
	if user.Password, err = xutil.Password().EncryptString(ctx, in.Password); err != nil {
		return nil, err
	}
	if err := repository.Create(ctx, user); err != nil {
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return nil, errTaken
		}
		return nil, err
	}
	log.Info(ctx, "user registered", slog.Any("user", user.ID))
	feed.From(ctx).Publish(user)
	return user, nil
}

// Find returns the user with this ID.
func Find(ctx context.Context, in *rule.UserID) (*entity.User, error) {
	user, err := repository.ByID[entity.User](ctx, in.ID)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, xerror.New(xerror.ResourceNotFound, "user not found")
	}
	return user, err
}
