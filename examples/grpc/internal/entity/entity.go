// Package entity holds what the database keeps.
package entity

import (
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// GeneApp is the gene of applications' ids.
const GeneApp xsnowflake.Gene = 32

// User is somebody who is registered. Password is an argon2id hash and never leaves the
// process.
type User struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64;not null;uniqueIndex"  json:"username"`
	Email    string `gorm:"size:128;not null;uniqueIndex" json:"email"`
	Password string `gorm:"size:256;not null"             json:"-"`
}

// GetGene makes the ids of users ids of users.
func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }

// App is an application that may call. Secret is the SHA-256 digest of its secret, in
// hexadecimal digits.
type App struct {
	xmodels.BaseEntity
	Name   string `gorm:"size:64;not null" json:"name"`
	Secret string `gorm:"size:64;not null" json:"-"`
}

// GetGene makes the ids of applications ids of applications.
func (App) GetGene() xsnowflake.Gene { return GeneApp }
