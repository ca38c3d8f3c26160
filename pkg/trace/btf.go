// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"fmt"
	"os"

	"github.com/cilium/ebpf/btf"
)

// kernelBTF is where the kernel describes its types.
const kernelBTF = "/sys/kernel/btf"

// needBTF says plainly that a kernel has no BTF.
func needBTF(what string) error {
	if _, err := os.Stat(kernelBTF + "/vmlinux"); err != nil {
		return fmt.Errorf("%s needs the types of this kernel, and it does not tell them: there is no %s/vmlinux (CONFIG_DEBUG_INFO_BTF): %w",
			what, kernelBTF, ErrNotSupported)
	}
	return nil
}

// moduleBTF loads the types of a module; nil if it is built into the kernel.
func moduleBTF(what, module string) (*btf.Spec, error) {
	if _, err := os.Stat(kernelBTF + "/" + module); err == nil {
		spec, err := btf.LoadKernelModuleSpec(module)
		if err != nil {
			return nil, fmt.Errorf("read the types of the module %s: %w", module, err)
		}
		return spec, nil
	}
	syms, err := kernelSymbols()
	if err != nil {
		return nil, err
	}
	for _, s := range syms {
		switch s.module {
		case module:
			return nil, fmt.Errorf("%s needs the types of the module %s, and there is no %s/%s (CONFIG_DEBUG_INFO_BTF_MODULES): %w",
				what, module, kernelBTF, module, ErrNotSupported)
		case "":
			if s.name == module+"_init" {
				return nil, nil
			}
		}
	}
	return nil, fmt.Errorf("the module %s is not loaded; 'modprobe %s' loads it: %w", module, module, os.ErrNotExist)
}
