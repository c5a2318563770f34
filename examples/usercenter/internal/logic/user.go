// Package logic holds the rules of the application. It knows no HTTP: its errors carry
// the codes that answer a request.
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
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
	"github.com/plinthgo/plinth/examples/usercenter/internal/repository"
)

var log = xlog.WithName(xlog.NamedLOGC, "user")

// errTaken answers a name or an address that somebody has.
var errTaken = xerror.New(xerror.Existed, "the username or the e-mail address is taken")

// errUnreadable answers a name or an address that people could not tell from another, and
// that databases disagree on.
var errUnreadable = xerror.New(xerror.ParameterError,
	"the username or the e-mail address has outer spaces or a character that cannot be printed")

// readable reports whether a text is one that people can read back.
func readable(text string) bool {
	return text == strings.TrimSpace(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Register makes a new user. The unique indexes decide who comes first; looking before
// only spares the hash. Case tells names apart, but no addresses.
func Register(ctx context.Context, username, email, password string) (*entity.User, error) {
	if !readable(username) || !readable(email) {
		return nil, errUnreadable
	}
	email = strings.ToLower(email)
	taken, err := repository.Taken(ctx, username, email)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, errTaken
	}
	hash, err := xutil.Password().EncryptString(ctx, password)
	if err != nil {
		return nil, err
	}
	user := &entity.User{Username: username, Email: email, Password: hash}
	if err := repository.Create(ctx, user); err != nil {
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return nil, errTaken
		}
		return nil, err
	}
	log.Info(ctx, "user registered", slog.Any("user", user.ID))
	return user, nil
}

// Login returns the user whose password this is. That a name is unknown has an answer of
// its own, so there is nothing to hide in the time that the two answers take.
func Login(ctx context.Context, username, password string) (*entity.User, error) {
	if !readable(username) {
		return nil, xerror.New(xerror.UserNotFound, "")
	}
	user, err := repository.ByUsername(ctx, username)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, xerror.New(xerror.UserNotFound, "")
	}
	if err != nil {
		return nil, err
	}
	valid, err := xutil.Password().IsValid(ctx, password, user.Password)
	if err != nil {
		return nil, err
	}
	if !valid {
		log.Notice(ctx, "login refused", slog.Any("user", user.ID))
		return nil, xerror.New(xerror.Unauthorized, "the password does not match")
	}
	return user, nil
}

// Find returns the user with this id.
func Find(ctx context.Context, id xsnowflake.SnowflakeID) (*entity.User, error) {
	user, err := repository.ByID(ctx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, xerror.New(xerror.NotExist, "there is no such user")
	}
	return user, err
}
