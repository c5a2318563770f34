package page

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"
)

//go:embed templates assets
var embedded embed.FS

// assets are the files of the pages. Their addresses contain a hash of the content, so
// clients may cache them forever.
type assets struct {
	Style, Script, Icon string // addresses below the base
	files               files  // by address
}

func loadAssets() (assets, error) {
	a := assets{files: files{}}
	for _, asset := range []struct {
		name, contentType string
		address           *string
	}{
		{"reference.css", typeCSS, &a.Style},
		{"reference.js", typeJS, &a.Script},
		{"icon.svg", typeSVG, &a.Icon},
	} {
		data, err := embedded.ReadFile("assets/" + asset.name)
		if err != nil {
			return assets{}, fmt.Errorf("read an asset: %w", err)
		}
		ext := path.Ext(asset.name)
		*asset.address = "assets/" + strings.TrimSuffix(asset.name, ext) + "." + hash(data) + ext
		a.files[*asset.address] = sync.OnceValue(func() *resource {
			return newResource(asset.contentType, immutable, data)
		})
	}
	return a, nil
}
