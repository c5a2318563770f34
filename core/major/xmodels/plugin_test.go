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

func TestPlugin_Create(t *testing.T) {
	t.Run("sets the id before the hooks of the entity", func(t *testing.T) {
		u := user{Name: "a"}
		if err := newDryRunDB(t).Create(&u).Error; err != nil {
			t.Fatal(err)
		}
		if u.ID.IsZero() || u.ID.Gene() != xsnowflake.GeneUser {
			t.Errorf("id = %d with gene %v, want gene user", u.ID, u.ID.Gene())
		}
		if u.seen != u.ID {
			t.Errorf("id in the hook = %d, want %d", u.seen, u.ID)
		}
	})

	t.Run("sets the ids in every kind of batch", func(t *testing.T) {
		db := newDryRunDB(t)
		values := []user{{Name: "a"}, {Name: "b"}}
		pointers := []*user{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		array := [2]user{}
		upsert := []user{{Name: "a"}, {Name: "b"}}
		for name, err := range map[string]error{
			"values":   db.Create(&values).Error,
			"pointers": db.Create(pointers).Error,
			"array":    db.Create(&array).Error,
			"batches":  db.CreateInBatches(upsert, 1).Error,
			"upsert": db.Clauses(clause.OnConflict{UpdateAll: true}).
				Create(&[]user{{Name: "x"}}).Error,
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
				t.Errorf("id = %d with gene %v, want a new id with gene user", u.ID, u.ID.Gene())
			}
			seen[u.ID] = true
		}
	})

	t.Run("uses the gene of each row", func(t *testing.T) {
		rows := []mixed{{Kind: 20}, {Kind: 20}, {Kind: 30}, {Kind: 20}}
		if err := newDryRunDB(t).Create(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if r.ID.Gene() != r.Kind {
				t.Errorf("row %d: gene = %v, want %v", i, r.ID.Gene(), r.Kind)
			}
		}
	})

	t.Run("keeps a preset id and times", func(t *testing.T) {
		at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		u := user{}
		u.ID, u.CreatedAt, u.UpdatedAt = 42, at, at
		// an insert with a preset id needs no node
		if err := newDryRunDBWithoutNode(t).Create(&u).Error; err != nil {
			t.Fatal(err)
		}
		if u.ID != 42 || !u.CreatedAt.Equal(at) || !u.UpdatedAt.Equal(at) {
			t.Errorf("entity = %+v, want id 42 and %v", u.BaseEntity, at)
		}
	})

	t.Run("does not change maps", func(t *testing.T) {
		db := newDryRunDBWithoutNode(t)
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
	})

	t.Run("does not set other primary keys", func(t *testing.T) {
		db := newDryRunDBWithoutNode(t)
		if err := db.Create(&integerKey{Name: "a"}).Error; err != nil {
			t.Errorf("key of another type: %v", err)
		}
		j := compositeKey{UserID: 1}
		if err := db.Create(&j).Error; err != nil || j.RoleID != 0 {
			t.Errorf("composite key: %+v, %v", j, err)
		}
	})

	t.Run("reports why it cannot set an id", func(t *testing.T) {
		for _, tc := range []struct {
			name     string
			value    any
			db       *gorm.DB
			wantErr  error
			wantText string
		}{
			{
				name: "no node", value: &user{}, db: newDryRunDBWithoutNode(t),
				wantErr: xerror.ConfigError, wantText: "no id for user: ",
			},
			{
				name: "by value", value: user{}, db: newDryRunDB(t), wantErr: gorm.ErrInvalidValue,
				wantText: "pass a pointer",
			},
			{
				name: "gene out of range", value: &mixed{Kind: 64}, db: newDryRunDB(t),
				wantText: "no id for mixed: ",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := tc.db.Create(tc.value).Error
				if err == nil || !strings.Contains(err.Error(), tc.wantText) {
					t.Errorf("error = %v, want %q in it", err, tc.wantText)
				}
				if tc.wantErr != nil && !errors.Is(err, tc.wantErr) {
					t.Errorf("error = %v, want %v", err, tc.wantErr)
				}
			})
		}
	})
}

// mixed sets the gene of each row.
type mixed struct {
	xmodels.BaseEntity
	Kind xsnowflake.Gene
}

func (m *mixed) GetGene() xsnowflake.Gene { return m.Kind }

type integerKey struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

type compositeKey struct {
	UserID xsnowflake.SnowflakeID `gorm:"primaryKey;autoIncrement:false"`
	RoleID xsnowflake.SnowflakeID `gorm:"primaryKey;autoIncrement:false"`
}

type account struct {
	xmodels.BaseEntityWithSoftDelete
	Balance int64
	Version xmodels.Version
}

func TestVersion_Update(t *testing.T) {
	db := newDryRunDB(t)
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
			want: "UPDATE `accounts` SET `created_at`=?,`updated_at`=?,`deleted_at`=?," +
				"`balance`=?,`version`=`accounts`.`version` + 1 " +
				"WHERE `id` = ? AND `accounts`.`version` = ? AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "one column of an entity",
			tx:   db.Model(&a).Update("balance", 2),
			want: "UPDATE `accounts` SET `balance`=?,`updated_at`=?," +
				"`version`=`accounts`.`version` + 1 " +
				"WHERE `id` = ? AND `accounts`.`version` = ? AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "conditions with OR",
			tx:   db.Model(&a).Where("x = ?", 1).Or("y = ?", 2).Update("balance", 2),
			want: "UPDATE `accounts` SET `balance`=?,`updated_at`=?," +
				"`version`=`accounts`.`version` + 1 " +
				"WHERE (x = ? OR y = ? AND `id` = ?) AND `accounts`.`version` = ? " +
				"AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "no entity",
			tx: db.Model(&account{}).Where("id > ?", 1).
				Updates(map[string]any{"balance": 2, "version": 99}),
			want: "UPDATE `accounts` SET `balance`=?,`updated_at`=?," +
				"`version`=`accounts`.`version` + 1 " +
				"WHERE id > ? AND `accounts`.`deleted_at` IS NULL",
		},
		{
			name: "without hooks",
			tx:   db.Model(&a).UpdateColumn("balance", 3),
			want: "UPDATE `accounts` SET `balance`=? " +
				"WHERE `accounts`.`deleted_at` IS NULL AND `id` = ?",
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

func TestVersion_Create(t *testing.T) {
	rows := []account{{}, {Version: 9}}
	if err := newDryRunDB(t).Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	if rows[0].Version != 1 || rows[1].Version != 9 {
		t.Errorf("versions = %d, %d, want 1, 9", rows[0].Version, rows[1].Version)
	}
}

func TestBaseEntity_JSON(t *testing.T) {
	a := account{}
	a.ID, a.CreatedAt, a.UpdatedAt = 1<<60, time.Unix(0, 0).UTC(), time.Unix(1, 0).UTC()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"1152921504606846976","created_at":"1970-01-01T00:00:00Z",` +
		`"updated_at":"1970-01-01T00:00:01Z","Balance":0,"Version":0}`
	if string(text) != want {
		t.Errorf("JSON = %s, want %s", text, want)
	}
	if a.GetID() != a.ID {
		t.Error("GetID does not return the id")
	}
}

func TestBaseEntityWithSoftDelete_Restore(t *testing.T) {
	a := account{}
	a.ID = 5
	tx := newDryRunDB(t).Unscoped().Model(&a).Update("deleted_at", nil)
	want := "UPDATE `accounts` SET `deleted_at`=?,`updated_at`=?," +
		"`version`=`accounts`.`version` + 1 WHERE `id` = ?"
	if got := tx.Statement.SQL.String(); got != want || tx.Error != nil {
		t.Errorf("statement = %s, %v; want %s", got, tx.Error, want)
	}
}

type exhaustedBackend struct{ leasedriver.Backend }

func (exhaustedBackend) Acquire(context.Context, leasedriver.Request) (leasedriver.Grant, error) {
	return leasedriver.Grant{Wait: time.Minute}, nil
}

// withoutFreeNodeID leases node IDs from an exhaustedBackend.
func withoutFreeNodeID() xsnowflake.Option {
	return xsnowflake.WithLeases(xlease.New(exhaustedBackend{xlease.InProcess(nil)}),
		50*time.Millisecond)
}

type countingPool struct {
	gorm.ConnPool

	started int
}

func (p *countingPool) BeginTx(context.Context, *sql.TxOptions) (gorm.ConnPool, error) {
	p.started++
	return &dryRunTx{}, nil
}

type dryRunTx struct{ gorm.ConnPool }

func (*dryRunTx) Commit() error   { return nil }
func (*dryRunTx) Rollback() error { return nil }

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
	own, other := newNode(xsnowflake.WithNodeID(1)), newNode(xsnowflake.WithNodeID(2))
	process := newNode(xsnowflake.WithNodeID(3))
	withOther := context.WithValue(t.Context(), xctx.SnowflakeNodeKey, other)
	for _, tc := range []struct {
		name string
		db   *gorm.DB
		ctx  context.Context // test case
		want int
	}{
		{name: "the node of the context has priority", db: database(own), ctx: withOther, want: 2},
		{
			name: "the node of the database without one in the context",
			db:   database(own), ctx: context.Background(), want: 1,
		},
		{
			name: "the default node otherwise",
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
	t.Run("an insert waits for a node ID before its transaction", func(t *testing.T) {
		exhausted := newNode(withoutFreeNodeID())
		pool := &countingPool{}
		db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, ConnPool: pool})
		if err == nil {
			err = db.Use(xmodels.Plugin{Node: func() *xsnowflake.Node { return exhausted }})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Create(&user{}).Error; !errors.Is(err, xsnowflake.ErrNoSlot) ||
			pool.started != 0 {
			t.Errorf("error = %v after %d transactions, want ErrNoSlot and 0", err, pool.started)
		}
		if err := db.Create(&user{BaseEntity: xmodels.BaseEntity{ID: 7}}).Error; err != nil ||
			pool.started != 1 {
			t.Errorf("insert with an id: error = %v after %d transactions, want 1",
				err, pool.started)
		}
	})
	t.Run("an insert without a free node ID fails with SERVICE_UNAVAILABLE", func(t *testing.T) {
		exhausted := newNode(withoutFreeNodeID())
		err := database(exhausted).Create(&user{}).Error
		if !errors.Is(err, xsnowflake.ErrNoSlot) ||
			xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
			t.Errorf("error = %v with the code %v, want SERVICE_UNAVAILABLE",
				err, xerror.From(err).GetErrorCode())
		}
	})
}
