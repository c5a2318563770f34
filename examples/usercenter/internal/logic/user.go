// Package logic contains the application logic. It does not depend on HTTP: its errors
// have the codes that responses report.
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

// errTaken reports a username or an e-mail address that another user has.
var errTaken = xerror.New(xerror.Existed, "the username or the e-mail address is taken")

// errUnreadable reports a username or an e-mail address that users cannot distinguish
// from another, or that databases compare differently.
var errUnreadable = xerror.New(xerror.ParameterError,
	"the username or the e-mail address has leading or trailing spaces or an unprintable character")

// readable reports whether text has only printable characters, and no leading or trailing
// spaces.
func readable(text string) bool {
	return text == strings.TrimSpace(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Register creates a user. The unique indexes prevent duplicates; the query only avoids
// hashing the password of a duplicate. Usernames are case-sensitive, e-mail addresses are
// not.
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

// Login returns the user if the password is correct. An unknown username has its own
// error code, so response times need not hide whether a user exists.
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
		log.Notice(ctx, "login rejected", slog.Any("user", user.ID))
		return nil, xerror.New(xerror.Unauthorized, "the password does not match")
	}
	return user, nil
}

// Find returns the user with this ID.
func Find(ctx context.Context, id xsnowflake.SnowflakeID) (*entity.User, error) {
	user, err := repository.ByID(ctx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, xerror.New(xerror.NotExist, "there is no such user")
	}
	return user, err
}
