package xmodels_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

func TestIDIsSetBeforeTheHooksOfTheEntity(t *testing.T) {
	u := user{Name: "a"}
	if err := dry(t).Create(&u).Error; err != nil {
		t.Fatal(err)
	}
	if u.ID.IsZero() || u.ID.Gene() != xsnowflake.GeneUser {
		t.Errorf("id = %d with gene %v, want one of the user's", u.ID, u.ID.Gene())
	}
	if u.seen != u.ID {
		t.Errorf("the hook saw the id %d, want %d", u.seen, u.ID)
	}
}

func TestIDsAreSetInEveryKindOfBatch(t *testing.T) {
	db := dry(t)
	values := []user{{Name: "a"}, {Name: "b"}}
	pointers := []*user{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	array := [2]user{}
	upsert := []user{{Name: "a"}, {Name: "b"}}
	for name, err := range map[string]error{
		"values":   db.Create(&values).Error,
		"pointers": db.Create(pointers).Error,
		"array":    db.Create(&array).Error,
		"batches":  db.CreateInBatches(upsert, 1).Error,
		"upsert": db.Clauses(clause.OnConflict{UpdateAll: true}).Create(
			&[]user{{Name: "x"}}).Error,
		"no hooks": db.Session(&gorm.Session{SkipHooks: true}).Create(&user{}).Error,
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	seen := map[xsnowflake.SnowflakeID]bool{0: true}
	for _, u := range []*user{
		&values[0], &values[1], pointers[0], pointers[1], pointers[2], &array[0], &array[1],
		&upsert[0], &upsert[1],
	} {
		if seen[u.ID] || u.ID.Gene() != xsnowflake.GeneUser {
			t.Errorf("id = %d with gene %v, want a new one of the user's", u.ID, u.ID.Gene())
		}
		seen[u.ID] = true
	}
}

// mixed has a gene for each row.
type mixed struct {
	xmodels.BaseEntity
	Kind xsnowflake.Gene
}

func (m *mixed) GetGene() xsnowflake.Gene { return m.Kind }

func TestEveryRowOfABatchHasItsOwnGene(t *testing.T) {
	rows := []mixed{{Kind: 20}, {Kind: 20}, {Kind: 30}, {Kind: 20}}
	if err := dry(t).Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if r.ID.Gene() != r.Kind {
			t.Errorf("row %d: gene = %v, want %v", i, r.ID.Gene(), r.Kind)
		}
	}
}

func TestPresetStays(t *testing.T) {
	at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	u := user{}
	u.ID, u.CreatedAt, u.UpdatedAt = 42, at, at
	// A preset id needs no node.
	if err := dryWithout(t).Create(&u).Error; err != nil {
		t.Fatal(err)
	}
	if u.ID != 42 || !u.CreatedAt.Equal(at) || !u.UpdatedAt.Equal(at) {
		t.Errorf("entity = %+v, want id 42 and %v", u.BaseEntity, at)
	}
}

func TestMapsAreLeftAlone(t *testing.T) {
	db := dryWithout(t)
	m := map[string]any{"name": "a"}
	if err := db.Model(&user{}).Create(m).Error; err != nil {
		t.Errorf("map: %v", err)
	}
	if err := db.Model(&user{}).Create([]map[string]any{m}).Error; err != nil {
		t.Errorf("maps: %v", err)
	}
	if _, ok := m["id"]; ok {
		t.Errorf("map = %v, want no id", m)
	}
}

type other struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

type joined struct {
	UserID xsnowflake.SnowflakeID `gorm:"primaryKey;autoIncrement:false"`
	RoleID xsnowflake.SnowflakeID `gorm:"primaryKey;autoIncrement:false"`
}

func TestOtherKeysAreLeftAlone(t *testing.T) {
	db := dryWithout(t)
	if err := db.Create(&other{Name: "a"}).Error; err != nil {
		t.Errorf("another type of key: %v", err)
	}
	j := joined{UserID: 1}
	if err := db.Create(&j).Error; err != nil || j.RoleID != 0 {
		t.Errorf("a key of two columns: %+v, %v", j, err)
	}
}

func TestWhatCannotGetAnIDIsAClearError(t *testing.T) {
	for _, tc := range []struct {
		name  string
		value any
		with  *gorm.DB
		is    error
		says  string
	}{
		{
			name: "no node", value: &user{}, with: dryWithout(t), is: xerror.ConfigError,
			says: "no id for user: ",
		},
		{
			name: "by value", value: user{}, with: dry(t), is: gorm.ErrInvalidValue,
			says: "want a pointer",
		},
		{
			name:  "a gene that does not fit",
			value: &mixed{Kind: 64}, with: dry(t), says: "no id for mixed: ",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.with.Create(tc.value).Error
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error = %v, want %q in it", err, tc.says)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("error = %v, want it to be %v", err, tc.is)
			}
		})
	}
}

type account struct {
	xmodels.BaseEntityWithSoftDelete
	Balance int64
	Version xmodels.Version
}

func TestVersionRestrictsTheWholeUpdate(t *testing.T) {
	db := dry(t)
	a := account{Balance: 1, Version: 7}
	a.ID = 5
	for _, tc := range []struct {
		name string
		tx   *gorm.DB
		want string
	}{
		{
			name: "save",
			tx:   db.Save(&a),
			want: "UPDATE `accounts` SET `created_at`=?,`updated_at`=?,`deleted_at`=?,`balance`=?,`version`=`accounts`.`version` + 1 " +
				"WHERE `id` = ? AND `accounts`.`version` = ? AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "one column of an entity",
			tx:   db.Model(&a).Update("balance", 2),
			want: "UPDATE `accounts` SET `balance`=?,`updated_at`=?,`version`=`accounts`.`version` + 1 " +
				"WHERE `id` = ? AND `accounts`.`version` = ? AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "conditions with OR",
			tx:   db.Model(&a).Where("x = ?", 1).Or("y = ?", 2).Update("balance", 2),
			want: "UPDATE `accounts` SET `balance`=?,`updated_at`=?,`version`=`accounts`.`version` + 1 " +
				"WHERE (x = ? OR y = ? AND `id` = ?) AND `accounts`.`version` = ? AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "no entity",
			tx: db.Model(&account{}).Where("id > ?",
				1).Updates(map[string]any{"balance": 2, "version": 99}),
			want: "UPDATE `accounts` SET `balance`=?,`updated_at`=?,`version`=`accounts`.`version` + 1 " +
				"WHERE id > ? AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "without hooks",
			tx:   db.Model(&a).UpdateColumn("balance", 3),
			want: "UPDATE `accounts` SET `balance`=? WHERE `accounts`.`deleted_at` IS NULL AND `id` = ?",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.tx.Error != nil {
				t.Fatal(tc.tx.Error)
			}
			if got := tc.tx.Statement.SQL.String(); got != tc.want {
				t.Errorf("statement\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestVersionBeginsAtOne(t *testing.T) {
	rows := []account{{}, {Version: 9}}
	if err := dry(t).Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	if rows[0].Version != 1 || rows[1].Version != 9 {
		t.Errorf("versions = %d, %d, want 1, 9", rows[0].Version, rows[1].Version)
	}
}

func TestEntityInJSON(t *testing.T) {
	a := account{}
	a.ID, a.CreatedAt, a.UpdatedAt = 1<<60, time.Unix(0, 0).UTC(), time.Unix(1, 0).UTC()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"1152921504606846976","created_at":"1970-01-01T00:00:00Z","updated_at":"1970-01-01T00:00:01Z","Balance":0,"Version":0}`
	if string(text) != want {
		t.Errorf("JSON = %s, want %s", text, want)
	}
	if a.GetID() != a.ID {
		t.Error("GetID is not the id")
	}
}

func TestRestoreSeesDeletedRows(t *testing.T) {
	a := account{}
	a.ID = 5
	tx := dry(t).Unscoped().Model(&a).Update("deleted_at", nil)
	want := "UPDATE `accounts` SET `deleted_at`=?,`updated_at`=?,`version`=`accounts`.`version` + 1 WHERE `id` = ?"
	if got := tx.Statement.SQL.String(); got != want || tx.Error != nil {
		t.Errorf("statement = %s, %v; want %s", got, tx.Error, want)
	}
}

// full is a backend whose node IDs are all held.
type full struct{ leasedriver.Backend }

func (full) Acquire(context.Context, leasedriver.Request) (leasedriver.Grant, error) {
	return leasedriver.Grant{Wait: time.Minute}, nil
}

// withoutNodeID leases a node ID from it.
func withoutNodeID() xsnowflake.Option {
	return xsnowflake.WithLeases(xlease.New(full{xlease.InProcess(nil)}), 50*time.Millisecond)
}

// beginner counts transactions.
type beginner struct {
	gorm.ConnPool

	begun int
}

func (b *beginner) BeginTx(context.Context, *sql.TxOptions) (gorm.ConnPool, error) {
	b.begun++
	return &ended{}, nil
}

// ended is a transaction of a dry run.
type ended struct{ gorm.ConnPool }

func (*ended) Commit() error   { return nil }
func (*ended) Rollback() error { return nil }

func TestPlugin_Node(t *testing.T) {
	newNode := func(opts ...xsnowflake.Option) *xsnowflake.Node {
		n, err := xsnowflake.NewNode(opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		return n
	}
	database := func(n *xsnowflake.Node) *gorm.DB {
		db, err := gorm.Open(tests.DummyDialector{},
			&gorm.Config{DryRun: true, SkipDefaultTransaction: true})
		if err == nil {
			err = db.Use(xmodels.Plugin{Node: func() *xsnowflake.Node { return n }})
		}
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	own, other, process := newNode(xsnowflake.WithNodeID(1)), newNode(xsnowflake.WithNodeID(2)),
		newNode(xsnowflake.WithNodeID(3))
	withOther := context.WithValue(t.Context(), xctx.SnowflakeNodeKey, other)
	for _, tc := range []struct {
		name string
		db   *gorm.DB
		ctx  context.Context // a case
		want int
	}{
		{name: "that of the context first", db: database(own), ctx: withOther, want: 2},
		{
			name: "that of the database if the context has none",
			db:   database(own), ctx: context.Background(), want: 1,
		},
		{
			name: "that of the process if neither has one",
			db:   database(nil), ctx: context.Background(), want: 3,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer xsnowflake.SetDefault(process)()
			var u user
			if err := tc.db.WithContext(tc.ctx).Create(&u).Error; err != nil ||
				u.ID.NodeID() != tc.want {
				t.Errorf("id of node %d, %v; want %d", u.ID.NodeID(), err, tc.want)
			}
		})
	}
	t.Run("an insert waits for a number before its transaction", func(t *testing.T) {
		lost := newNode(withoutNodeID())
		pool := &beginner{}
		db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, ConnPool: pool})
		if err == nil {
			err = db.Use(xmodels.Plugin{Node: func() *xsnowflake.Node { return lost }})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Create(&user{}).Error; !errors.Is(err, xsnowflake.ErrNoSlot) ||
			pool.begun != 0 {
			t.Errorf("error = %v after %d transactions, want ErrNoSlot and none", err, pool.begun)
		}
		if err := db.Create(&user{BaseEntity: xmodels.BaseEntity{ID: 7}}).Error; err != nil ||
			pool.begun != 1 {
			t.Errorf("error = %v after %d transactions of an insert with an id, want one",
				err, pool.begun)
		}
	})
	t.Run("a number that is lost or not to be had is SERVICE_UNAVAILABLE", func(t *testing.T) {
		lost := newNode(withoutNodeID())
		err := database(lost).Create(&user{}).Error
		if !errors.Is(err, xsnowflake.ErrNoSlot) ||
			xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
			t.Errorf("error = %v with the code %v, want SERVICE_UNAVAILABLE",
				err, xerror.From(err).GetErrorCode())
		}
	})
}
