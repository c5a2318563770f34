package snippets_test

import (
	"context"
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// Order is an order of a customer.
type Order struct {
	xmodels.BaseEntity
	Number string `gorm:"size:64;uniqueIndex" json:"number"`
	Paid   bool   `json:"paid"`
}

func (Order) GetGene() xsnowflake.Gene { return xsnowflake.GeneOrder }

// xmodelsContext returns the context of an application with the tables of entities.
func xmodelsContext(t *testing.T, entities ...any) context.Context {
	t.Helper()
	return plinthtest.New(t, xoption.WithDatabase(
		xoptdatabase.WithAutoMigrate(entities...))).Context()
}

func xmodelsCreate(ctx context.Context) (Order, error) {
	order := Order{Number: "2026-17", Paid: true}
	err := xdb.MustGetDB(ctx).Create(&order).Error // order.ID is set
	return order, err
}

func xmodelsPage(ctx context.Context) (*xmodels.PageResponse[Order], error) {
	// or bind it from the query
	request := xmodels.PageRequest{Page: 2, Size: 50, Sort: "desc"}
	page, err := xmodels.Paginate[Order](xdb.MustGetDB(ctx).Where("paid = ?", true), request,
		xmodels.SortBy("number"))
	return page, err
}

func xmodelsKeyset(db *gorm.DB, cursor string) (*xmodels.KeysetPage[Order], error) {
	list, err := xmodels.Keyset[Order](db, xmodels.KeysetRequest{After: cursor, Size: 50},
		xmodels.SortBy("created_at"))
	// list.Items, and list.Next for the next request; "" on the last page
	return list, err
}

func TestXmodels_CreateAndList(t *testing.T) {
	t.Parallel()
	ctx := xmodelsContext(t, &Order{})
	order, err := xmodelsCreate(ctx)
	if err != nil || order.ID.Gene() != xsnowflake.GeneOrder {
		t.Fatalf("created %+v, %v", order, err)
	}
	page, err := xmodelsPage(ctx)
	if err != nil || page.TotalItems != 1 || len(page.Items) != 0 {
		t.Errorf("page = %+v, %v", page, err)
	}
	list, err := xmodelsKeyset(xdb.MustGetDB(ctx), "")
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != order.ID || list.Next != "" {
		t.Errorf("list = %+v, %v", list, err)
	}
}

func TestXmodels_SoftDelete(t *testing.T) {
	t.Parallel()
	type Member struct {
		xmodels.BaseEntityWithSoftDelete
		Name string `gorm:"size:64;uniqueIndex:idx_members_name,where:deleted_at IS NULL"`
	}
	db := xdb.MustGetDB(xmodelsContext(t, &Member{}))
	for range 2 {
		member := Member{Name: "ann"}
		if err := errors.Join(db.Create(&member).Error, db.Delete(&member).Error); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []bool{true, false} {
		if err := db.Create(&Member{Name: "ann"}).Error; (err == nil) != want {
			t.Errorf("create = %v, want success: %t", err, want)
		}
	}
}

func TestXmodels_OptimisticLock(t *testing.T) {
	t.Parallel()
	type Account struct {
		xmodels.BaseEntity
		Balance int64
		Version xmodels.Version `json:"version"`
	}
	db := xdb.MustGetDB(xmodelsContext(t, &Account{}))
	account := Account{Balance: 1}
	if err := db.Create(&account).Error; err != nil {
		t.Fatal(err)
	}
	other := account
	if err := db.Model(&account).Update("balance", 2).Error; err != nil {
		t.Error(err)
	}
	if err := db.Model(&other).Update("balance", 3).Error; !errors.Is(err, xerror.OptimisticLock) {
		t.Errorf("second update = %v, want OPTIMISTIC_LOCK", err)
	}
}
