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

// Entity is what the templates know of an entity and of the service around it.
type Entity struct {
	*Service

	Name, Plural    string // Order, Orders
	Var, PluralVar  string // order, orders
	Snake, Table    string // order_item, order_items
	Route           string // order-items
	Noun, Nouns     string // order item, order items
	Article         string
	Meaning         string
	Fields          []Field
	First           bool // it comes with the service, and shows what that has
	HasTime, HasID  bool
	shortAssignment bool
}

// Field is one field of an entity.
type Field struct {
	Name, Column, Kind, Type string
	EntityTag, InputTag      string
	// Sample and Changed are two values, as Go code.
	Sample, Changed string

	gorm, binding string
}

// kind is a type that a field may have. Its columns and bounds are the same on every database.
type kind struct {
	name, goType, gorm, binding string
	samples                     [2]string
}

// kinds are the types of fields. A text is bounded by what Oracle keeps in a column without a size.
var kinds = []kind{
	{"string", "string", "size:255;not null", "required,max=255", [2]string{`"one"`, `"another"`}},
	{"text", "string", "", "max=4000", [2]string{`"one, two, three"`, `"four"`}},
	{"int", "int", "not null", "", [2]string{"1", "2"}},
	{"int64", "int64", "not null", "", [2]string{"100", "200"}},
	{"float64", "float64", "not null", "", [2]string{"1.5", "2.5"}},
	{"bool", "bool", "not null", "", [2]string{"true", "false"}},
	{"time", "time.Time", "not null", "required", [2]string{
		"time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)", "time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)",
	}},
	{"id", "xsnowflake.SnowflakeID", "not null;index", "required", [2]string{"1001", "1002"}},
}

// Kinds returns the names of the types that a field may have.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// note is the entity of a new service.
func note(s *Service) *Entity {
	e := newEntity(s, "Note")
	e.First, e.Meaning = true, "what somebody wants to remember"
	e.Fields = []Field{newField("title", kinds[0]), newField("text", kinds[1])}
	e.Fields[0].gorm, e.Fields[0].binding = "size:200;not null", "required,max=200"
	e.Fields[0].Sample, e.Fields[0].Changed = `"Shopping"`, `"Done"`
	e.Fields[1].Sample, e.Fields[1].Changed = `"milk, bread, salt"`, `"all of it"`
	e.finish()
	return e
}

// NewEntity reads a name such as Order, and fields such as total:int64. The error has everything that is wrong with them.
func NewEntity(s *Service, name string, fields []string) (*Entity, error) {
	problems := checkEntityName(name)
	e := newEntity(s, exported(name))
	seen := map[string]bool{"id": true, "created_at": true, "updated_at": true}
	for _, text := range fields {
		field, err := parseField(text)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case seen[field.Column]:
			problems = append(problems, fmt.Sprintf("field %q: the entity has one of that name", text))
		default:
			seen[field.Column] = true
			e.Fields = append(e.Fields, field)
		}
	}
	if len(fields) == 0 {
		problems = append(problems, "an entity needs a field, such as name:string")
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(problems, "\n"))
	}
	e.Meaning = "a row of the table " + e.Table
	if s.DB == nil {
		e.Meaning = "what the service keeps of " + e.Article + " " + e.Noun
	}
	e.finish()
	return e, nil
}

// CheckEntity returns everything that is wrong with a name and fields.
func CheckEntity(name string, fields []string) error {
	_, err := NewEntity(&Service{}, name, fields)
	return err
}

func newEntity(s *Service, name string) *Entity {
	names := schema.NamingStrategy{IdentifierMaxLength: 63}
	snake := names.ColumnName("", name)
	e := &Entity{
		Service: s, Name: name, Plural: plural(name), Var: lower(name), PluralVar: lower(plural(name)),
		Snake: snake, Table: names.TableName(name), Meaning: "",
	}
	e.Route = strings.ReplaceAll(e.Table, "_", "-")
	e.Noun, e.Nouns = strings.ReplaceAll(snake, "_", " "), strings.ReplaceAll(e.Table, "_", " ")
	e.Article = "a"
	if e.Noun != "" && strings.ContainsRune("aeio", rune(e.Noun[0])) {
		e.Article = "an"
	}
	return e
}

// finish fills in what follows from the fields.
func (e *Entity) finish() {
	for _, f := range e.Fields {
		e.HasTime = e.HasTime || f.Kind == "time"
		e.HasID = e.HasID || f.Kind == "id"
	}
	e.shortAssignment = len(e.Fields) <= 2
	if e.DB == nil {
		for i := range e.Fields {
			e.Fields[i].gorm = ""
		}
	}
	align(e.Fields)
}

// align writes the tags of the fields, each key at one column.
func align(fields []Field) {
	var gormWidth, bindingWidth int
	for _, f := range fields {
		gormWidth, bindingWidth = max(gormWidth, len(f.gorm)), max(bindingWidth, len(f.binding))
	}
	for i, f := range fields {
		json := fmt.Sprintf("json:%q", f.Column)
		fields[i].EntityTag = "`" + padded("gorm", f.gorm, gormWidth) + json + "`"
		fields[i].InputTag = "`" + padded("binding", f.binding, bindingWidth) + json + "`"
	}
}

func padded(key, value string, width int) string {
	const frame = len(`:"" `)
	if value == "" {
		return ""
	}
	return fmt.Sprintf("%-*s", len(key)+frame+width, fmt.Sprintf("%s:%q", key, value))
}

// Short reports whether the fields stand on one line.
func (e *Entity) Short() bool { return e.shortAssignment }

// Refusable reports whether an empty input is refused.
func (e *Entity) Refusable() bool {
	return slices.ContainsFunc(e.Fields, func(f Field) bool { return strings.Contains(f.binding, "required") })
}

// FollowUpInTransaction reports whether what follows a new entity is stored with it.
func (e *Entity) FollowUpInTransaction() bool { return e.First && e.DurableJobs() }

var (
	entityName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	fieldName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// taken are the names in lower case that the packages of a service or the templates give to something else.
var taken = strings.Fields(`app api c cached changed ctx engine entity err errors error find forget found gin handler http id
	input insert list log logic made net notify open page path r remove replace repository result route schedule service start
	startup store task time view all any cmp slices xdb xerror testing options tasks nodes string len nil true false`)

func checkEntityName(name string) []string {
	if !entityName.MatchString(name) {
		return []string{fmt.Sprintf("%q is no name of an entity, such as Order or OrderItem", name)}
	}
	names := []string{lower(name), lower(plural(name))}
	for _, n := range names {
		if token.IsKeyword(n) || slices.Contains(taken, strings.ToLower(n)) {
			return []string{fmt.Sprintf("%q is taken: %s is a word of Go or of the service", name, n)}
		}
	}
	if names[0] == names[1] {
		return []string{fmt.Sprintf("%q has no plural of its own, which the route and the functions need", name)}
	}
	return nil
}

func parseField(text string) (Field, error) {
	name, typeName, ok := strings.Cut(text, ":")
	if !ok {
		return Field{}, fmt.Errorf("field %q: write name:type, such as total:int64", text)
	}
	if !fieldName.MatchString(name) {
		return Field{}, fmt.Errorf("field %q: %q is no name, such as total or paid_at", text, name)
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == typeName })
	if i < 0 {
		return Field{}, fmt.Errorf("field %q: there is no type %q, but: %s", text, typeName, strings.Join(Kinds(), ", "))
	}
	f := newField(name, kinds[i])
	if reservedFields[f.Name] {
		return Field{}, fmt.Errorf("field %q: the entity has a method or a field %s", text, f.Name)
	}
	return f, nil
}

// reservedFields would hide what every entity has.
var reservedFields = map[string]bool{"BaseEntity": true, "GetID": true, "GetGene": true, "TableName": true}

func newField(name string, k kind) Field {
	goName := exported(name)
	return Field{
		Name: goName, Column: schema.NamingStrategy{IdentifierMaxLength: 63}.ColumnName("", goName), Kind: k.name, Type: k.goType,
		Sample: k.samples[0], Changed: k.samples[1], gorm: k.gorm, binding: k.binding,
	}
}

// initialisms are the words that Go writes in capitals, as its linters know them.
var initialisms = strings.Fields(`ACL API ASCII CPU CSS DNS EOF GUID HTML HTTP HTTPS ID IP JSON QPS RAM RPC SLA SMTP SQL SSH TCP
	TLS TTL UDP UI UID URI URL UTF8 UUID VM XML XMPP XSRF XSS`)

// plural makes OrderItem OrderItems, and HomeURL HomeURLs.
func plural(name string) string {
	if name != "" && unicode.IsUpper(rune(name[len(name)-1])) {
		return name + "s"
	}
	return inflection.Plural(name)
}

// hump is where a word of a name such as paidAt ends and the next one starts.
var hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// exported makes paidAt and paid_at PaidAt, and customerId CustomerID.
func exported(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(hump.ReplaceAllString(name, "${1}_${2}"), "_") {
		if word == "" {
			continue
		}
		if upper := strings.ToUpper(word); slices.Contains(initialisms, upper) {
			b.WriteString(upper)
			continue
		}
		b.WriteString(string(unicode.ToUpper(rune(word[0]))) + word[1:])
	}
	return b.String()
}

// lower makes OrderItem orderItem, URLFilter urlFilter, and URLs urls.
func lower(name string) string {
	if slices.Contains(initialisms, strings.TrimSuffix(name, "s")) {
		return strings.ToLower(name)
	}
	runes := []rune(name)
	for i := range runes {
		if !unicode.IsUpper(runes[i]) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

// FileName is the name of the entity's files. No ending of it means something to the go command.
func (e *Entity) FileName() string {
	last := e.Snake[strings.LastIndexByte(e.Snake, '_')+1:]
	if slices.Contains(buildEndings, last) && last != e.Snake {
		return e.Snake + "_entity"
	}
	return e.Snake
}

// buildEndings are what the go command reads from the end of a file's name.
var buildEndings = strings.Fields(`test aix android darwin dragonfly freebsd illumos ios js linux netbsd openbsd plan9 solaris
	wasip1 windows 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm`)
