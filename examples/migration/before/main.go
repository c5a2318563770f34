// Command before serves orders without Plinth.
package main

import (
	"context"
	"errors"
	"log" //nolint:depguard // this service does not use Plinth
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/examples/migration/orders"
)

func main() {
	db, err := gorm.Open(sqlite.Open(os.Getenv("DB_FILE")), &gorm.Config{}) //nolint:forbidigo // as above
	if err != nil {
		log.Fatal(err)
	}
	if err := db.AutoMigrate(&orders.Order{}); err != nil {
		log.Fatal(err)
	}
	server := &orders.Server{DB: db}
	go server.Clean()

	engine := gin.Default()
	server.Routes(engine)
	srv := &http.Server{Addr: ":8080", Handler: engine, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := srv.ListenAndServe(); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		log.Print(err)
	}
}
