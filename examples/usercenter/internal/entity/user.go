// Package entity defines the database entities.
package entity

import (
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// User is a registered user.
type User struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64;not null;uniqueIndex"  json:"username"`
	Email    string `gorm:"size:128;not null;uniqueIndex" json:"email"`
	// Password is an argon2id hash and is never sent to clients.
	Password string `gorm:"size:256;not null"             json:"-"`
}

// GetGene returns the gene of user IDs.
func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }
