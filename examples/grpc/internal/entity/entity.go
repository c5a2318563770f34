// Package entity contains the database entities.
package entity

import (
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// GeneApp is the gene of application IDs.
const GeneApp xsnowflake.Gene = 32

// User is a registered user. Password is an argon2id hash and is never returned.
type User struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64;not null;uniqueIndex"  json:"username"`
	Email    string `gorm:"size:128;not null;uniqueIndex" json:"email"`
	Password string `gorm:"size:256;not null"             json:"-"`
}

// GetGene returns the gene of user IDs.
func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }

// App is a client application. Secret is the hexadecimal SHA-256 digest of its secret.
type App struct {
	xmodels.BaseEntity
	Name   string `gorm:"size:64;not null" json:"name"`
	Secret string `gorm:"size:64;not null" json:"-"`
}

// GetGene returns the gene of application IDs.
func (App) GetGene() xsnowflake.Gene { return GeneApp }
