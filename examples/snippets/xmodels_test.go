package snippets_test

import (
	"context"
	"errors"
	"testing"

	"gorm.io/gorm"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// Order is what somebody has bought.
type Order struct {
	xModels.BaseEntity
	Number string `gorm:"size:64;uniqueIndex" json:"number"`
	Paid   bool   `json:"paid"`
}

func (Order) GetGene() xSnowflake.Gene { return xSnowflake.GeneOrder }

// xmodelsContext returns the context of an application with the tables of entities.
func xmodelsContext(t *testing.T, entities ...any) context.Context {
	t.Helper()
	return plinthtest.New(t, xOption.WithDatabase(xOptDatabase.WithAutoMigrate(entities...))).Context()
}

func xmodelsCreate(ctx context.Context) (Order, error) {
	order := Order{Number: "2026-17", Paid: true}
	err := xDB.MustGetDB(ctx).Create(&order).Error // order.ID is set
	return order, err
}

func xmodelsPage(ctx context.Context) (*xModels.PageResponse[Order], error) {
	request := xModels.PageRequest{Page: 2, Size: 50, Sort: "desc"} // or bound from the request's query
	page, err := xModels.Paginate[Order](xDB.MustGetDB(ctx).Where("paid = ?", true), request, xModels.SortBy("number"))
	return page, err
}

func xmodelsKeyset(db *gorm.DB, cursor string) (*xModels.KeysetPage[Order], error) {
	list, err := xModels.Keyset[Order](db, xModels.KeysetRequest{After: cursor, Size: 50}, xModels.SortBy("created_at"))
	// list.Items, and list.Next for the next request; "" on the last page
	return list, err
}

func TestEntityHasAnIDAndIsListed(t *testing.T) {
	t.Parallel()
	ctx := xmodelsContext(t, &Order{})
	order, err := xmodelsCreate(ctx)
	if err != nil || order.ID.Gene() != xSnowflake.GeneOrder {
		t.Fatalf("created %+v, %v", order, err)
	}
	page, err := xmodelsPage(ctx)
	if err != nil || page.TotalItems != 1 || len(page.Items) != 0 {
		t.Errorf("page = %+v, %v", page, err)
	}
	list, err := xmodelsKeyset(xDB.MustGetDB(ctx), "")
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != order.ID || list.Next != "" {
		t.Errorf("list = %+v, %v", list, err)
	}
}

func TestNameOfADeletedMemberIsFree(t *testing.T) {
	t.Parallel()
	type Member struct {
		xModels.BaseEntityWithSoftDelete
		Name string `gorm:"size:64;uniqueIndex:idx_members_name,where:deleted_at IS NULL"`
	}
	db := xDB.MustGetDB(xmodelsContext(t, &Member{}))
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

func TestSecondOfTwoChangesFails(t *testing.T) {
	t.Parallel()
	type Account struct {
		xModels.BaseEntity
		Balance int64
		Version xModels.Version `json:"version"`
	}
	db := xDB.MustGetDB(xmodelsContext(t, &Account{}))
	account := Account{Balance: 1}
	if err := db.Create(&account).Error; err != nil {
		t.Fatal(err)
	}
	other := account
	if err := db.Model(&account).Update("balance", 2).Error; err != nil {
		t.Error(err)
	}
	if err := db.Model(&other).Update("balance", 3).Error; !errors.Is(err, xModels.ErrOptimisticLock) {
		t.Errorf("the second change: %v, want ErrOptimisticLock", err)
	}
}
