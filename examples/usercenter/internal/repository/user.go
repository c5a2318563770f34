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

// cached is how long a user is kept in the cache. Users do not change.
const cached = 10 * time.Minute

// Create writes a new user and fills in the id and the times. A name or an address that
// is taken is a gorm.ErrDuplicatedKey.
func Create(ctx context.Context, user *entity.User) error {
	return xdb.MustGetDB(ctx).Create(user).Error
}

// Taken reports whether somebody has the name or the address.
func Taken(ctx context.Context, username, email string) (bool, error) {
	var n int64
	err := xdb.MustGetDB(ctx).Model(&entity.User{}).Where("username = ? OR email = ?",
		username, email).Limit(1).Count(&n).Error
	return n > 0, err
}

// ByUsername returns the user with this name, or a gorm.ErrRecordNotFound.
func ByUsername(ctx context.Context, username string) (*entity.User, error) {
	return first(ctx, "username = ?", username)
}

// ByID returns a user from the cache or the database, or a gorm.ErrRecordNotFound. The
// password may be missing: it is no part of what a cache outside the process keeps.
func ByID(ctx context.Context, id xsnowflake.SnowflakeID) (*entity.User, error) {
	load := func(ctx context.Context) (*entity.User, error) { return first(ctx, "id = ?", id) }
	manager, none := xcache.GetManager(ctx)
	if none != nil {
		return load(ctx) // NOSQL_DRIVER=none
	}
	users := xcache.KeyCacheOf[xsnowflake.SnowflakeID, entity.User](manager,
		xcache.WithName("user"))
	user, _, err := users.GetOrLoad(ctx, id, load, xcache.WithTTL(cached))
	return user, err
}

func first(ctx context.Context, query string, arg any) (*entity.User, error) {
	var user entity.User
	if err := xdb.MustGetDB(ctx).Where(query, arg).Take(&user).Error; err != nil {
		return nil, err
	}
	return &user, nil
}
