package mysql_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	gosql "github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

func ExampleDriver() {
	options := xdb.Options{
		Driver: "mysql",
		Parts: driver.Config{
			Host: "db.internal", User: "app", Pass: "s3cret", Name: "shop",
			TLS: driver.TLSVerifyFull,
		},
	}
	fmt.Println(xdb.Resolve(options))

	engine, err := xlog.New(xlog.Config{Level: slog.LevelError})
	if err != nil {
		panic(err)
	}
	defer func() { _ = engine.Close() }()
	ctx, cancel := context.WithCancel(xlog.NewContext(context.Background(), engine))
	cancel() // an application connects to a server
	_, err = xdb.Open(ctx, options)
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// mysql db.internal:3306/shop <nil>
	// true
}

func ExampleDriver_DSN() {
	dsn, err := mysql.Driver{}.DSN(driver.Config{
		Host: "/run/mysqld/mysqld.sock", User: "app", Name: "shop",
	})
	fmt.Println(dsn, err)

	_, err = mysql.Driver{}.DSN(driver.Config{User: "app"})
	fmt.Println(err)
	// Output:
	// app@unix(/run/mysqld/mysqld.sock)/shop?charset=utf8mb4&interpolateParams=true <nil>
	// DATABASE_NAME: is not set
}

func ExampleDriver_errors() {
	// The server's error if a second row has the same address.
	serverErr := &gosql.MySQLError{
		Number:  1062,
		Message: "Duplicate entry 'ada@example.org' for key 'uq_users_email'",
	}

	dialector, _ := mysql.Driver{}.Dialector("").(gorm.ErrorTranslator)
	err := dialector.Translate(serverErr)
	fmt.Println(err)
	fmt.Println(errors.Is(err, gorm.ErrDuplicatedKey), errors.Is(err, serverErr),
		xerror.From(err).GetErrorCode().GetOutput())
	// Output:
	// unique constraint violated: uq_users_email
	// true true UNIQUE_CONSTRAINT
}
