// Wording fails on words that the documentation of Go hardly uses, and on comments beyond
// column 90.
//
//	wording [-all] [path ...]
//
// It reads the comments and strings of Go files, Markdown outside of code, and templates,
// manifests and makefiles as a whole. words.txt lists the words and what to write
// instead. Some are accepted up to a frequency, which is checked if no path is given;
// -all prints each place.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

//go:embed words.txt
var list string

func main() {
	all := flag.Bool("all", false, "print each place of words that are accepted up to a frequency")
	flag.Parse()
	ok, err := run(os.Stdout, *all, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "wording:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(w io.Writer, all bool, paths []string) (bool, error) {
	root, err := workspace.Find()
	if err != nil {
		return false, err
	}
	words, exceptions, err := readWords(list)
	if err != nil {
		return false, err
	}
	files, err := files(root, paths)
	if err != nil {
		return false, err
	}
	c := checker{
		out: w, words: words, exceptions: exceptions, all: all, frequency: len(paths) == 0,
	}
	for _, name := range files {
		src, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return false, err
		}
		texts, err := extract(name, src)
		if err != nil {
			return false, err
		}
		c.check(name, texts)
	}
	c.checkFrequency()
	return c.problems == 0, nil
}

// files lists the files of the repository that are in one of the paths.
func files(root string, paths []string) ([]string, error) {
	args := []string{"-C", root, "ls-files", "-co", "--exclude-standard", "--"}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		args = append(args, abs)
	}
	out, err := exec.CommandContext(context.Background(), "git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), ignored), nil
}

var generated = regexp.MustCompile(
	`(^|/)(testdata|npm)/|\.pb\.go$|^docs/internal/search/glossary\.txt$|^tools/wording/(words\.txt|.*_test\.go)$`)

func ignored(name string) bool { return generated.MatchString(name) }

// word is one line of words.txt.
type word struct {
	name   string
	re     *regexp.Regexp
	limit  float64 // occurrences per 1,000 words
	advice string
	found  int
}

// exception is a word that a file may contain.
type exception struct{ file, word string }

func readWords(list string) ([]*word, map[exception]bool, error) {
	var words []*word
	exceptions := map[exception]bool{}
	for i, line := range strings.Split(list, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			return nil, nil, fmt.Errorf("words.txt:%d: %d columns, want 3", i+1, len(columns))
		}
		if file, ok := strings.CutPrefix(line, "!"); ok {
			file, _, _ = strings.Cut(file, "\t")
			exceptions[exception{file, columns[1]}] = true
			continue
		}
		re, err := regexp.Compile(`(?i)\b(` + columns[0] + `)\b`)
		if err != nil {
			return nil, nil, fmt.Errorf("words.txt:%d: %w", i+1, err)
		}
		limit, err := strconv.ParseFloat(columns[1], 64)
		if err != nil {
			return nil, nil, fmt.Errorf("words.txt:%d: %w", i+1, err)
		}
		words = append(words, &word{name: columns[0], re: re, limit: limit, advice: columns[2]})
	}
	return words, exceptions, nil
}

// checker reports what it finds, as path:line: message.
type checker struct {
	out        io.Writer
	words      []*word
	exceptions map[exception]bool
	all        bool
	frequency  bool
	total      int // words of prose
	problems   int
}

func (c *checker) problem(format string, args ...any) {
	c.problems++
	fmt.Fprintf(c.out, format+"\n", args...)
}

func (c *checker) check(name string, texts []text) {
	for _, t := range texts {
		if t.prose {
			c.total += len(bytes.Fields([]byte(t.s)))
		}
		if t.width > commentWidth {
			c.problem("%s:%d: the comment reaches column %d, want at most %d",
				name, t.line, t.width, commentWidth)
		}
		for _, w := range c.words {
			found := w.re.FindAllString(t.s, -1)
			switch {
			case len(found) == 0, c.excepted(name, strings.ToLower(found[0])):
			case w.limit == 0:
				c.problem("%s:%d: %q: write %s", name, t.line, found[0], w.advice)
			case t.prose:
				w.found += len(found)
				if c.all {
					fmt.Fprintf(c.out, "%s:%d: %q if possible: %s\n", name, t.line, found[0], w.advice)
				}
			}
		}
	}
}

// excepted reports whether a file, or a directory that contains it, may have the word.
func (c *checker) excepted(name, word string) bool {
	for i := range name {
		if name[i] == '/' && c.exceptions[exception{name[:i+1], word}] {
			return true
		}
	}
	return c.exceptions[exception{name, word}]
}

func (c *checker) checkFrequency() {
	if !c.frequency {
		return
	}
	for _, w := range c.words {
		if n := 1000 * float64(w.found) / float64(max(c.total, 1)); w.limit > 0 && n > w.limit {
			c.problem("%q occurs %.2f times in 1,000 words, want at most %.2f: write %s",
				w.name, n, w.limit, w.advice)
		}
	}
}
