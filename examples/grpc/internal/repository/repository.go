// Package repository reads and writes entities. It returns the errors of gorm.
package repository

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
)

// Create inserts an entity and sets its ID and times. It returns gorm.ErrDuplicatedKey if
// the name or the address of a user is taken.
func Create[E entity.User | entity.App](ctx context.Context, row *E) error {
	return xdb.MustGetDB(ctx).Create(row).Error
}

// ByID returns an entity, or gorm.ErrRecordNotFound.
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
