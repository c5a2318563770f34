package scaffold

import (
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/jinzhu/inflection"
	"gorm.io/gorm/schema"
)

// entity is the template data of an entity and its service.
type entity struct {
	*Service

	Name, Plural   string // Order, Orders
	Var, PluralVar string // order, orders
	Snake, Table   string // order_item, order_items
	Route          string // order-items
	Noun, Nouns    string // order item, order items
	Article        string
	Meaning        string
	Fields         []field
	First          bool // the entity of a new service, which shows all features
}

// field is one field of an entity.
type field struct {
	kind

	Name, Column string
}

// kind is the type of a field. Its columns and limits are the same on all databases.
type kind struct {
	Kind, Type, gorm, binding string
	// Sample and Changed are two values in Go syntax.
	Sample, Changed string
}

// kinds are the types of fields. The limit of text is the default column size of Oracle.
var kinds = []kind{
	{"string", "string", "size:255;not null", "required,max=255", `"one"`, `"another"`},
	{"text", "string", "", "max=4000", `"one, two, three"`, `"four"`},
	{"int", "int", "not null", "", "1", "2"},
	{"int64", "int64", "not null", "", "100", "200"},
	{"float64", "float64", "not null", "", "1.5", "2.5"},
	{"bool", "bool", "not null", "", "true", "false"},
	{
		"time", "time.Time", "not null", "required",
		"time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)",
		"time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)",
	},
	{"id", "xsnowflake.SnowflakeID", "not null;index", "required", "1001", "1002"},
}

// Kinds returns the names of the field types.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Kind
	}
	return names
}

// note returns the entity of a new service.
func note(s *Service) *entity {
	e := nameEntity(s, "Note")
	e.First, e.Meaning = true, "a short text with a title"
	e.Fields = []field{
		newField("title", kind{
			"string", "string", "size:200;not null", "required,max=200", `"Shopping"`, `"Done"`,
		}),
		newField("text", kind{
			"text", "string", "", "max=4000", `"milk, bread, salt"`, `"all of it"`,
		}),
	}
	return e
}

// newEntity parses a name such as Order and fields such as total:int64. The error lists
// every problem.
func newEntity(s *Service, name string, fields []string) (*entity, error) {
	problems := checkEntityName(name)
	e := nameEntity(s, exported(name))
	// An update embeds the input, so a field must not have the name of its type.
	seen := append(slices.Clone(reservedColumns), names.ColumnName("", e.Name+"Input"))
	for _, text := range fields {
		field, err := parseField(text)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case slices.Contains(seen, field.Column):
			problems = append(problems, fmt.Sprintf("field %q: duplicate or reserved name", text))
		default:
			seen = append(seen, field.Column)
			e.Fields = append(e.Fields, field)
		}
	}
	if len(fields) == 0 {
		problems = append(problems, "an entity requires a field, such as name:string")
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(problems, "\n"))
	}
	e.Meaning = "a row of the table " + e.Table
	if s.DB == nil {
		e.Meaning = e.Article + " " + e.Noun + " that the service stores"
	}
	return e, nil
}

// CheckEntity returns an error that lists every problem of a name and fields.
func CheckEntity(name string, fields []string) error {
	_, err := newEntity(&Service{}, name, fields)
	return err
}

// nameEntity returns an entity without fields.
func nameEntity(s *Service, name string) *entity {
	snake := names.ColumnName("", name)
	e := &entity{
		Service: s, Name: name, Plural: plural(name),
		Var: lower(name), PluralVar: lower(plural(name)),
		Snake: snake, Table: schema.NamingStrategy{IdentifierMaxLength: 63}.TableName(name),
	}
	e.Route = strings.ReplaceAll(e.Table, "_", "-")
	e.Noun, e.Nouns = strings.ReplaceAll(snake, "_", " "), strings.ReplaceAll(e.Table, "_", " ")
	e.Article = "a"
	if e.Noun != "" && strings.ContainsRune("aeio", rune(e.Noun[0])) {
		e.Article = "an"
	}
	return e
}

// EntityTag returns the struct tag of a field of the entity.
func (e *entity) EntityTag(f field) string {
	if e.DB == nil {
		return f.tag("gorm", "")
	}
	return f.tag("gorm", f.gorm)
}

// InputTag returns the struct tag of the field in the input.
func (f field) InputTag() string { return f.tag("binding", f.binding) }

func (f field) tag(key, value string) string {
	if value == "" {
		return fmt.Sprintf("`json:%q`", f.Column)
	}
	return fmt.Sprintf("`%s:%q json:%q`", key, value, f.Column)
}

// Has reports whether the entity has a field of this kind.
func (e *entity) Has(kind string) bool {
	return slices.ContainsFunc(e.Fields, func(f field) bool { return f.Kind == kind })
}

// HasRequired reports whether a field is required, so that an empty input is invalid.
func (e *entity) HasRequired() bool {
	return slices.ContainsFunc(e.Fields,
		func(f field) bool { return strings.Contains(f.binding, "required") })
}

var (
	entityName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	fieldName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// reservedNames are the lower-case names that the packages of a service or the templates
// use.
var reservedNames = strings.Fields(`affected app api c cached changed created ctx engine entity err errors error find found gin http id in
	input insert invalidate list log logic net notify now open page path r remove replace repository result route schedule service start
	startup store task time view all any cmp slices xapi xdb xerror xsnowflake testing options tasks nodes string len nil true false`)

// reservedColumns are the columns and methods that every entity has.
var reservedColumns = []string{
	"id", "created_at", "updated_at", "base_entity", "get_id", "get_gene", "table_name",
}

func checkEntityName(name string) []string {
	if !entityName.MatchString(name) {
		return []string{
			fmt.Sprintf("%q is not a valid entity name, such as Order or OrderItem", name),
		}
	}
	goName := exported(name)
	one, many := lower(goName), lower(plural(goName))
	for _, n := range []string{one, many} {
		if token.IsKeyword(n) || slices.Contains(reservedNames, strings.ToLower(n)) {
			return []string{fmt.Sprintf("%q is reserved: Go or the service uses %s", name, n)}
		}
	}
	if one == many {
		return []string{fmt.Sprintf(
			"%q has no distinct plural, which the route and the functions need", name)}
	}
	return nil
}

func parseField(text string) (field, error) {
	name, typeName, ok := strings.Cut(text, ":")
	if !ok {
		return field{}, fmt.Errorf("field %q: must be name:type, such as total:int64", text)
	}
	if !fieldName.MatchString(name) {
		return field{}, fmt.Errorf("field %q: %q is not a valid name, such as total or paid_at",
			text, name)
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Kind == typeName })
	if i < 0 {
		return field{}, fmt.Errorf("field %q: unknown type %q; available: %s",
			text, typeName, strings.Join(Kinds(), ", "))
	}
	return newField(name, kinds[i]), nil
}

func newField(name string, k kind) field {
	goName := exported(name)
	return field{Name: goName, Column: names.ColumnName("", goName), kind: k}
}

// plural turns OrderItem into OrderItems, and HomeURL into HomeURLs.
func plural(name string) string {
	if name != "" && unicode.IsUpper(rune(name[len(name)-1])) {
		return name + "s"
	}
	return inflection.Plural(name)
}

// names converts between Go names and names of tables and columns.
var names = schema.NamingStrategy{IdentifierMaxLength: 63, SingularTable: true}

// exported turns paidAt and paid_at into PaidAt, and customerId into CustomerID.
func exported(name string) string { return names.SchemaName(names.ColumnName("", name)) }

// lower turns OrderItem into orderItem, URLFilter into urlFilter, and URLs into urls.
func lower(name string) string {
	first, _, _ := strings.Cut(names.ColumnName("", name), "_")
	return first + name[len(first):]
}
