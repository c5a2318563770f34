// Program ginsqlite is gin and gorm on SQLite without Plinth. It is the baseline of
// program sqlite.
package main

import (
	"github.com/gin-gonic/gin"
	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
)

type user struct {
	ID   int64
	Name string
}

func main() {
	db, err := gorm.Open(sqlite.Open(":memory:"), &gorm.Config{})
	if err != nil {
		panic(err)
	}
	if err := db.AutoMigrate(&user{}); err != nil {
		panic(err)
	}
	engine := gin.New()
	engine.POST("/users", func(c *gin.Context) {
		var u user
		if err := c.ShouldBindJSON(&u); err != nil {
			c.JSON(400, gin.H{"error": err.Error()})
			return
		}
		c.JSON(200, gin.H{"rows": db.WithContext(c).Create(&u).RowsAffected})
	})
	if err := engine.Run(); err != nil {
		panic(err)
	}
}
