// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/cilium/ebpf/link"
)

// providers are where libibverbs looks for our library.
var providers = []string{
	"/usr/lib/*/libibverbs/libsofthca-rdmav*.so", "/usr/lib64/libibverbs/libsofthca-rdmav*.so",
	"/usr/local/lib/libibverbs/libsofthca-rdmav*.so",
}

// probeArgs is how many arguments the programs take.
const probeArgs = 4

// attachProvider attaches a program to a probe of the provider library, in every
// process that uses it.
func (s *session) attachProvider(program, probe string) error {
	var files []string
	for _, pattern := range providers {
		names, _ := filepath.Glob(pattern) // The patterns are right.
		files = append(files, names...)
	}
	if len(files) == 0 {
		return fmt.Errorf("the provider library libsofthca is not where libibverbs looks for it: %w", ErrNotSupported)
	}
	for _, file := range files {
		offsets, err := probesOf(file, "softhca", probe)
		if err != nil {
			return fmt.Errorf("read the probes of %s: %w", file, err)
		}
		if len(offsets) == 0 {
			return fmt.Errorf("%s has no probe softhca:%s; it is older than this program: %w", file, probe, ErrNotSupported)
		}
		lib, err := link.OpenExecutable(file)
		if err != nil {
			return fmt.Errorf("open %s: %w", file, err)
		}
		for _, at := range offsets {
			l, err := lib.Uprobe(probe, s.coll.Programs[program], &link.UprobeOptions{Address: at})
			if err != nil {
				return fmt.Errorf("attach to the probe %s of %s: %w", probe, file, err)
			}
			s.links = append(s.links, l)
		}
	}
	return nil
}

// probesOf returns where in a file the probes of a name are, by the notes that
// systemtap has made the common form (.note.stapsdt).
func probesOf(file, provider, probe string) ([]uint64, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sec := f.Section(".note.stapsdt")
	if sec == nil {
		return nil, nil
	}
	notes, err := sec.Data()
	if err != nil {
		return nil, err
	}
	var offsets []uint64
	r := bytes.NewReader(notes)
	for {
		var head struct{ NameLen, DescLen, Type uint32 }
		if err := binary.Read(r, f.ByteOrder, &head); err != nil {
			if errors.Is(err, io.EOF) {
				return offsets, nil
			}
			return nil, err
		}
		name, err := noteBytes(r, head.NameLen)
		if err != nil {
			return nil, err
		}
		desc, err := noteBytes(r, head.DescLen)
		if err != nil {
			return nil, err
		}
		if string(name) != "stapsdt\x00" || head.Type != 3 || len(desc) < 24 {
			continue
		}
		// Address of the probe, address of a mark when it was linked, semaphore;
		// provider, name, arguments.
		text := bytes.Split(desc[24:], []byte{0})
		if len(text) < 3 || string(text[0]) != provider || string(text[1]) != probe {
			continue
		}
		if len(bytes.Fields(text[2])) < probeArgs {
			continue // of an older provider
		}
		addr := f.ByteOrder.Uint64(desc)
		if base := f.Section(".stapsdt.base"); base != nil {
			addr += base.Addr - f.ByteOrder.Uint64(desc[8:])
		}
		off, err := fileOffset(f, addr)
		if err != nil {
			return nil, err
		}
		offsets = append(offsets, off)
	}
}

func noteBytes(r *bytes.Reader, n uint32) ([]byte, error) {
	if int64(n) > int64(r.Len()) {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, (n+3)&^3)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return b[:n], nil
}

// fileOffset is where an address of the loaded file is in the file.
func fileOffset(f *elf.File, addr uint64) (uint64, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr < p.Vaddr+p.Filesz {
			return addr - p.Vaddr + p.Off, nil
		}
	}
	return 0, fmt.Errorf("the probe at 0x%x is in no segment", addr)
}
