// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Command cmd writes the files that package nlgen generates.
package main

import (
	"bytes"
	"flag"
	"log"
	"os"
	"path/filepath"

	"github.com/softhca/softhca/internal/nlgen"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("nlgen: ")
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()

	if err := run(*root); err != nil {
		log.Fatal(err)
	}
}

func run(root string) error {
	spec, err := nlgen.Load(root)
	if err != nil {
		return err
	}
	files, err := nlgen.Generate(spec)
	if err != nil {
		return err
	}
	for name, want := range files {
		path := filepath.Join(root, name)
		// An unchanged file keeps its time, so make does not rebuild.
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, want) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			return err
		}
	}
	return nil
}
