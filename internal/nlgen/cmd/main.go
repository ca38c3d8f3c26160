// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Command cmd writes the files that package nlgen generates.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"

	"github.com/softhca/softhca/internal/nlgen"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()

	spec, err := nlgen.Load(*root)
	if err != nil {
		log.Fatal(err)
	}
	files, err := nlgen.Generate(spec)
	if err != nil {
		log.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(*root, name), data, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
