package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/docs/internal/blob"
	"github.com/plinthgo/plinth/docs/internal/markup"
)

//go:embed assets diagrams
var embedded embed.FS

// A lazyBlob is compressed on first use. This shortens startup, because most pictures are
// rarely requested.
type lazyBlob = func() *blob.Blob

func lazily(contentType, cacheControl string, body []byte) lazyBlob {
	return sync.OnceValue(func() *blob.Blob { return blob.New(contentType, cacheControl, body) })
}

// hashLength is the number of hexadecimal SHA-256 digits in the name of a file.
const hashLength = 16

// assets are the files of the pages. Their addresses contain a hash of the content, so
// clients may cache them forever.
type assets struct {
	files   map[string]lazyBlob // by address
	address map[string]string   // by embedded name
}

// loadAssets reads the directories assets and diagrams.
func loadAssets(fsys fs.FS) (assets, error) {
	a := assets{files: map[string]lazyBlob{}, address: map[string]string{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || contentTypeOf(name) == "" {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		ext := path.Ext(name)
		address := "/assets/" + strings.TrimSuffix(path.Base(name), ext) + "." + hash(data) + ext
		a.address[name] = address
		a.files[address] = lazily(contentTypeOf(name), blob.Immutable, data)
		return nil
	})
	if err != nil {
		return assets{}, fmt.Errorf("read the assets: %w", err)
	}
	return a, nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:hashLength]
}

// contentTypeOf returns the content type of a file, or "" if the file is not served.
func contentTypeOf(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return ""
	}
}

// url returns the address of a file of the directory assets.
func (a assets) url(name string) (string, error) {
	address, ok := a.address["assets/"+name]
	if !ok {
		return "", fmt.Errorf("asset %q not found", name)
	}
	return address, nil
}

// named returns a file of the directory assets for an address without a hash.
func (a assets) named(name, cacheControl string) lazyBlob {
	file := a.files[a.address["assets/"+name]]
	if file == nil {
		return lazily(contentTypeOf(name), cacheControl, nil)
	}
	return lazily(contentTypeOf(name), cacheControl, file().Body())
}

// HasDiagram reports whether the pictures of a Mermaid diagram exist.
func HasDiagram(source string) bool {
	name := diagramName(source)
	for _, ending := range []string{lightEnding, darkEnding} {
		if _, err := fs.Stat(embedded, name+ending); err != nil {
			return false
		}
	}
	return true
}

// Suffixes of the picture files.
const (
	lightEnding = ".light.svg"
	darkEnding  = ".dark.svg"
)

func diagramName(source string) string { return "diagrams/" + DiagramName(source) }

// DiagramName returns the file name of the pictures of a Mermaid diagram, without theme
// and extension.
func DiagramName(source string) string { return hash([]byte(strings.TrimSpace(source))) }

// diagram implements markup.Options.Diagram. The pictures are rendered in advance.
func (a assets) diagram(source string) (markup.Diagram, bool) {
	name := diagramName(source)
	light, dark := a.address[name+lightEnding], a.address[name+darkEnding]
	if light == "" || dark == "" {
		return markup.Diagram{}, false
	}
	width, height := size(a.files[light]().Body())
	return markup.Diagram{Light: light, Dark: dark, Width: width, Height: height}, true
}

var viewBox = regexp.MustCompile(
	`<svg[^>]*\sviewBox="[-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)[ ,]+([\d.]+)"`)

// size returns the size of a picture in pixels, from its view box.
func size(svg []byte) (width, height int) {
	m := viewBox.FindSubmatch(svg)
	if m == nil {
		return 0, 0
	}
	return pixels(m[1]), pixels(m[2])
}

func pixels(number []byte) int {
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return 0
	}
	return int(f + 0.5)
}
