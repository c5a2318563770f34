// Package entity holds what the database keeps.
package entity

import (
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// User is somebody who can log in. Password is an argon2id hash and never leaves the
// process.
type User struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64;not null;uniqueIndex"  json:"username"`
	Email    string `gorm:"size:128;not null;uniqueIndex" json:"email"`
	Password string `gorm:"size:256;not null"             json:"-"`
}

// GetGene makes the ids of users ids of users.
func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }
