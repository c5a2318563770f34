package page

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"go.yaml.in/yaml/v3"
)

// orderFile defines the order of a directory.
const orderFile = "order.yaml"

// An order is the content of an order.yaml.
type order struct {
	Title         string   `yaml:"title"`
	TitleZh       string   `yaml:"title_zh"`
	Description   string   `yaml:"description"`
	DescriptionZh string   `yaml:"description_zh"`
	Pages         []string `yaml:"pages"`
	Groups        []group  `yaml:"groups"`
}

type group struct {
	Title   string   `yaml:"title"`
	TitleZh string   `yaml:"title_zh"`
	Pages   []string `yaml:"pages"`
}

// readOrder reads the order of a directory. It returns an empty order if the file does
// not exist.
func readOrder(fsys fs.FS, dir string) (order, error) {
	var o order
	name := path.Join(dir, orderFile)
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&o); err != nil {
		return order{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(o.Pages) > 0 && len(o.Groups) > 0 {
		return order{}, fmt.Errorf("%s: it has pages and groups: move the pages to a group", name)
	}
	return o, nil
}
