package xmodels_test

import (
	"sync"
	"testing"

	"gorm.io/gorm/schema"
)

// For an auto-increment key, SQL Server's dialector wraps an insert in IDENTITY_INSERT.
func TestBaseEntity_PrimaryKey(t *testing.T) {
	for _, tc := range []struct {
		name   string
		entity any
	}{
		{name: "base", entity: &user{}},
		{name: "soft delete", entity: &account{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := schema.Parse(tc.entity, &sync.Map{}, schema.NamingStrategy{})
			if err != nil {
				t.Fatal(err)
			}
			key := s.PrioritizedPrimaryField
			if key == nil || key.DBName != "id" || len(s.PrimaryFields) != 1 {
				t.Fatalf("primary key = %v, want id", s.PrimaryFieldDBNames)
			}
			if key.AutoIncrement || key.HasDefaultValue || len(s.FieldsWithDefaultDBValue) != 0 {
				t.Errorf("AutoIncrement = %t, HasDefaultValue = %t, "+
					"FieldsWithDefaultDBValue = %v; want no default",
					key.AutoIncrement, key.HasDefaultValue, s.FieldsWithDefaultDBValue)
			}
			if key.DataType != schema.Int || key.Size != 64 {
				t.Errorf("type = %s of %d bits, want int of 64", key.DataType, key.Size)
			}
		})
	}
}
