// Program gin is plain gin with one route: what the others are measured against.
package main

import "github.com/gin-gonic/gin"

func main() {
	engine := gin.New()
	engine.GET("/ping", func(c *gin.Context) { c.JSON(200, gin.H{"message": "pong"}) })
	if err := engine.Run(); err != nil {
		panic(err)
	}
}
