// Program gin is gin with one route. It is the baseline of the other programs.
package main

import "github.com/gin-gonic/gin"

func main() {
	engine := gin.New()
	engine.GET("/ping", func(c *gin.Context) { c.JSON(200, gin.H{"message": "pong"}) })
	if err := engine.Run(); err != nil {
		panic(err)
	}
}
