// Package repository reads and writes entities.
package repository

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
)

// cacheTTL is the TTL of a user in the cache. It can be long, because users are never
// updated.
const cacheTTL = 10 * time.Minute

// Create inserts a new user and sets its ID and times. It returns gorm.ErrDuplicatedKey
// if the username or the e-mail address exists.
func Create(ctx context.Context, user *entity.User) error {
	return xdb.MustGetDB(ctx).Create(user).Error
}

// Taken reports whether a user with this username or e-mail address exists.
func Taken(ctx context.Context, username, email string) (bool, error) {
	var n int64
	err := xdb.MustGetDB(ctx).Model(&entity.User{}).Where("username = ? OR email = ?",
		username, email).Limit(1).Count(&n).Error
	return n > 0, err
}

// ByUsername returns the user with this username, or gorm.ErrRecordNotFound.
func ByUsername(ctx context.Context, username string) (*entity.User, error) {
	return first(ctx, "username = ?", username)
}

// ByID returns a user from the cache or the database, or gorm.ErrRecordNotFound. Password
// may be empty, because a cache outside of the process does not store it.
func ByID(ctx context.Context, id xsnowflake.SnowflakeID) (*entity.User, error) {
	load := func(ctx context.Context) (*entity.User, error) { return first(ctx, "id = ?", id) }
	manager, missing := xcache.GetManager(ctx)
	if missing != nil {
		return load(ctx) // NOSQL_DRIVER=none
	}
	users := xcache.KeyCacheOf[xsnowflake.SnowflakeID, entity.User](manager,
		xcache.WithName("user"))
	user, _, err := users.GetOrLoad(ctx, id, load, xcache.WithTTL(cacheTTL))
	return user, err
}

func first(ctx context.Context, query string, arg any) (*entity.User, error) {
	var user entity.User
	if err := xdb.MustGetDB(ctx).Where(query, arg).Take(&user).Error; err != nil {
		return nil, err
	}
	return &user, nil
}
