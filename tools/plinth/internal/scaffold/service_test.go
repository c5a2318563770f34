package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

func TestServiceName(t *testing.T) {
	for _, tc := range []struct{ name, module, want string }{
		{name: "last element", module: "example.com/shop", want: "shop"},
		{name: "capitals and dots", module: "example.com/My.Shop", want: "my-shop"},
		{name: "major version", module: "example.com/shop/v2", want: "shop"},
		{name: "one element", module: "shop", want: "shop"},
		{name: "digits first", module: "example.com/2fast", want: "service-2fast"},
		{name: "name of a container", module: "example.com/redis", want: "redis-service"},
		{
			name: "long", module: "example.com/" + strings.Repeat("a", 80),
			want: strings.Repeat("a", 40),
		},
		{name: "no letter", module: "example.com/_", want: "service"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := scaffold.ServiceName(tc.module); got != tc.want {
				t.Errorf("name = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNewService(t *testing.T) {
	spec := scaffold.Spec{Module: "no module", Database: "mongo", Cache: "memcached"}
	_, err := scaffold.NewService(spec, requiredVersions(t))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`"no module" is not a valid module path, such as example.com/shop`,
		`unknown database "mongo"; available: sqlite, postgres, mysql, oracle, sqlserver, none`,
		`unknown cache "memcached"; available: memory, redis, none`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error\n%v\nlacks %s", err, want)
		}
	}
}

func TestCheckModule(t *testing.T) {
	for _, tc := range []struct{ name, module, want string }{
		{name: "empty", want: "is empty"},
		{name: "space", module: "a b", want: "is not a valid module path"},
		{name: "leading slash", module: "/shop", want: "is not a valid module path"},
		{
			name: "standard library", module: "net",
			want: "starts with a package of the standard library",
		},
		{
			name: "below the standard library", module: "log/shop",
			want: "starts with a package of the standard library",
		},
		{name: "version 1", module: "example.com/shop/v1", want: "invalid version suffix"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := scaffold.CheckModule(tc.module); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %s", err, tc.want)
			}
		})
	}
}

func TestCheckEntity(t *testing.T) {
	for _, tc := range []struct {
		name   string
		entity string
		fields []string
		want   string
	}{
		{
			name: "lower case", entity: "order",
			fields: []string{"a:int"}, want: `"order" is not a valid entity name`,
		},
		{
			name: "no letter", entity: "9",
			fields: []string{"a:int"}, want: "is not a valid entity name",
		},
		{
			name: "keyword", entity: "Type",
			fields: []string{"a:int"}, want: "is reserved: Go or the service uses",
		},
		{
			name: "name used by the service", entity: "Log",
			fields: []string{"a:int"}, want: "is reserved: Go or the service uses",
		},
		{
			name: "no plural", entity: "Series",
			fields: []string{"a:int"}, want: "has no distinct plural",
		},
		{
			name: "no plural as a Go name", entity: "FS",
			fields: []string{"a:int"}, want: "has no distinct plural",
		},
		{name: "no field", entity: "Order", want: "requires a field"},
		{
			name: "no type", entity: "Order",
			fields: []string{"total"}, want: `field "total": must be name:type`,
		},
		{
			name: "unknown type", entity: "Order",
			fields: []string{"a:money"},
			want:   `unknown type "money"; available: string, text, int, int64, float64, bool, time, id`,
		},
		{
			name: "invalid field name", entity: "Order",
			fields: []string{"1a:int"}, want: `"1a" is not a valid name`,
		},
		{
			name: "duplicate field", entity: "Order",
			fields: []string{"a_b:int", "aB:int"}, want: "duplicate or reserved name",
		},
		{
			name: "reserved field", entity: "Order",
			fields: []string{"created_at:time"}, want: "duplicate or reserved name",
		},
		{
			name: "field with the name of the input", entity: "Order",
			fields: []string{"order_input:string"}, want: "duplicate or reserved name",
		},
		{
			name: "two problems", entity: "Order", fields: []string{"1a:int", "a:money"},
			want: "is not a valid name, such as total or paid_at\nfield",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := scaffold.CheckEntity(tc.entity, tc.fields); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %s", err, tc.want)
			}
		})
	}
}

func TestNewEntity_Names(t *testing.T) {
	for _, tc := range []struct{ name, entity, file, route, table string }{
		{name: "one word", entity: "Order", file: "order", route: "orders", table: "orders"},
		{
			name: "two words", entity: "OrderItem", file: "orderitem", route: "order-items",
			table: "order_items",
		},
		{name: "irregular", entity: "Person", file: "person", route: "people", table: "people"},
		{name: "y", entity: "Category", file: "category", route: "categories", table: "categories"},
		{
			name: "test suffix", entity: "BloodTest", file: "bloodtest",
			route: "blood-tests", table: "blood_tests",
		},
		{name: "GOOS suffix", entity: "MyWindows", file: "", route: "", table: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := scaffold.NewEntity(&scaffold.Service{}, tc.entity, []string{"a:int"})
			if tc.file == "" {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil || e.Route != tc.route || e.Table != tc.table {
				t.Fatalf("entity = %+v, %v", e, err)
			}
			if files, err := scaffold.RenderEntity(e); err != nil ||
				files["internal/entity/"+tc.file+".go"] == nil {
				t.Errorf("files = %q, %v", files.Paths(), err)
			}
		})
	}
}

func TestNewEntity_FieldNames(t *testing.T) {
	spec := scaffold.Spec{Module: "example.com/shop", Database: "sqlite", Cache: "none"}
	service, err := scaffold.NewService(spec, requiredVersions(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ field, wantName, wantColumn string }{
		{"customerId:id", "CustomerID", "customer_id"},
		{"customer_id:id", "CustomerID", "customer_id"},
		{"customerID:id", "CustomerID", "customer_id"},
		{"homeUrl:string", "HomeURL", "home_url"},
		{"paidAt:time", "PaidAt", "paid_at"},
		{"identity:string", "Identity", "identity"},
		{"vm_name:string", "VMName", "vm_name"},
		{"guid:string", "GUID", "guid"},
		{"xss_count:int64", "XSSCount", "xss_count"},
	} {
		e, err := scaffold.NewEntity(service, "Order", []string{tc.field})
		if err != nil {
			t.Fatal(err)
		}
		if f := e.Fields[0]; f.Name != tc.wantName || f.Column != tc.wantColumn ||
			strings.Contains(e.EntityTag(f), "type:") {
			t.Errorf("%s = %s, column %s, tag %s; want %s, %s, no type",
				tc.field, f.Name, f.Column, e.EntityTag(f), tc.wantName, tc.wantColumn)
		}
	}
}

func TestNewEntity_EntityNames(t *testing.T) {
	spec := scaffold.Spec{Module: "example.com/shop", Database: "sqlite", Cache: "none"}
	service, err := scaffold.NewService(spec, requiredVersions(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, wantName, wantPlural, wantVar, wantPluralVar, wantTable string
	}{
		{"OrderItem", "OrderItem", "OrderItems", "orderItem", "orderItems", "order_items"},
		{"ApiKey", "APIKey", "APIKeys", "apiKey", "apiKeys", "api_keys"},
		{"HomeUrl", "HomeURL", "HomeURLs", "homeURL", "homeURLs", "home_urls"},
		{"URL", "URL", "URLs", "url", "urls", "urls"},
	} {
		e, err := scaffold.NewEntity(service, tc.name, []string{"name:string"})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{e.Name, e.Plural, e.Var, e.PluralVar, e.Table}
		want := []string{tc.wantName, tc.wantPlural, tc.wantVar, tc.wantPluralVar, tc.wantTable}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tc.name, got, want)
		}
	}
}
