package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing/fstest"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/core/major/xmodels"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// city is an example entity.
type city struct {
	xmodels.BaseEntity
	Name string `gorm:"size:64;not null;uniqueIndex"`
}

// GetGene implements xsnowflake.GeneProvider.
func (city) GetGene() xsnowflake.Gene { return 40 }

// application returns a context with a database, an ID node and a silent logger, as an
// application has after startup.
func application() (ctx context.Context, stop func()) {
	engine, _ := xlog.New(xlog.Config{Level: slog.LevelError})
	ctx = xlog.NewContext(context.Background(), engine)
	node, _ := xsnowflake.NewNode()
	ctx = context.WithValue(ctx, xctx.SnowflakeNodeKey, node)
	db, err := xdb.Open(ctx, xdb.Options{
		Driver: "sqlite", Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}},
		AutoMigrate: []any{&city{}},
	})
	if err != nil {
		panic(err)
	}
	ctx = context.WithValue(ctx, xctx.DatabaseKey, db)
	return ctx, func() { _, _, _ = xdb.Close(db), node.Close(), engine.Close() }
}

func ExampleDriver() {
	options := xdb.NewOptions(
		xdb.WithDriver("sqlite", ":memory:"),
		xdb.WithAutoMigrate(&city{}),
		xdb.WithPrepare(func(db *gorm.DB) error {
			return db.Where("name = ?", "").Delete(&city{}).Error
		}),
	)
	engine, _ := xlog.New(xlog.Config{Level: slog.LevelError})
	defer func() { _ = engine.Close() }()
	db, err := xdb.Open(xlog.NewContext(context.Background(), engine), options)
	fmt.Println(db.Name(), err)
	fmt.Println(xdb.Close(db))
	// Output:
	// sqlite <nil>
	// <nil>
}

func ExampleDriver_migrations() {
	files := fstest.MapFS{ // an application embeds a directory: //go:embed migrations/*.sql
		"migrations/0001_roles.sql": {Data: []byte(
			"CREATE TABLE ${prefix}roles (name VARCHAR(64) NOT NULL);")},
		"migrations/0002_admin.sql": {Data: []byte(
			"INSERT INTO ${prefix}roles (name) VALUES ('admin');")},
	}
	ctx, stop := application()
	defer stop()
	db := xdb.MustGetDB(ctx)
	for range 2 {
		list, err := migrate.List(ctx, db, files)
		for _, m := range list {
			fmt.Println(m.Name, m.State, m.Done, "of", m.Statements, err)
		}
		fmt.Println(migrate.Apply(ctx, db, files))
	}
	// Output:
	// 0001_roles.sql pending 0 of 1 <nil>
	// 0002_admin.sql pending 0 of 1 <nil>
	// <nil>
	// 0001_roles.sql applied 1 of 1 <nil>
	// 0002_admin.sql applied 1 of 1 <nil>
	// <nil>
}

func ExampleDriver_errors() {
	ctx, stop := application()
	defer stop()
	db := xdb.MustGetDB(ctx)
	first := city{Name: "Oslo"}
	fmt.Println(db.Create(&first).Error, first.ID.Gene())

	err := db.Create(&city{Name: "Oslo"}).Error
	fmt.Println(errors.Is(err, gorm.ErrDuplicatedKey), xerror.From(err).GetErrorCode().GetOutput())
	// Output:
	// <nil> 40
	// true UNIQUE_CONSTRAINT
}

func ExampleDriver_transaction() {
	ctx, stop := application()
	defer stop()
	rename := func(ctx context.Context, from, to string) error {
		return xdb.MustGetDB(ctx).Model(&city{}).Where("name = ?", from).Update("name", to).Error
	}
	err := xdb.Transaction(ctx, func(ctx context.Context) error {
		if err := xdb.MustGetDB(ctx).Create(&city{Name: "Christiania"}).Error; err != nil {
			return err
		}
		// reads the new row, because it uses the same transaction
		return rename(ctx, "Christiania", "Oslo")
	})
	var got city
	fmt.Println(err, xdb.MustGetDB(ctx).First(&got).Error, got.Name)
	// Output: <nil> <nil> Oslo
}

func ExampleDriver_pages() {
	ctx, stop := application()
	defer stop()
	db := xdb.MustGetDB(ctx)
	if err := db.Create([]*city{
		{Name: "Bergen"},
		{Name: "Oslo"},
		{Name: "Tromsø"},
	}).Error; err != nil {
		panic(err)
	}
	request := xmodels.PageRequest{Page: 2, Size: 2, Sort: "desc"}
	page, err := xmodels.Paginate[city](db, request, xmodels.SortBy("name"))
	fmt.Println(page.TotalItems, page.TotalPages, page.Items[0].Name, err)

	list, err := xmodels.Keyset[city](db, xmodels.KeysetRequest{Size: 2}, xmodels.SortBy("name"))
	rest, _ := xmodels.Keyset[city](db, xmodels.KeysetRequest{Size: 2, After: list.Next},
		xmodels.SortBy("name"))
	fmt.Println(len(list.Items), len(rest.Items), rest.Items[0].Name, rest.Next == "", err)
	// Output:
	// 3 2 Bergen <nil>
	// 2 1 Tromsø true <nil>
}
