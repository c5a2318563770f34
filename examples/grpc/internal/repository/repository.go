// Package repository reads and writes entities. Its errors are gorm's.
package repository

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
)

// Create writes a new entity and fills in its id and its times. A user whose name or
// address is taken is a gorm.ErrDuplicatedKey.
func Create[E entity.User | entity.App](ctx context.Context, row *E) error {
	return xdb.MustGetDB(ctx).Create(row).Error
}

// ByID returns an entity, or a gorm.ErrRecordNotFound.
func ByID[E entity.User | entity.App](ctx context.Context, id xsnowflake.SnowflakeID) (*E, error) {
	row := new(E)
	if err := xdb.MustGetDB(ctx).Where("id = ?", id).Take(row).Error; err != nil {
		return nil, err
	}
	return row, nil
}

// Taken reports whether a user has the name or the address.
func Taken(ctx context.Context, username, email string) (bool, error) {
	var n int64
	err := xdb.MustGetDB(ctx).Model(&entity.User{}).Where("username = ? OR email = ?",
		username, email).Limit(1).Count(&n).Error
	return n > 0, err
}
