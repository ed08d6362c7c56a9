package trace

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// symbols are the functions of the kernel, in the order of their addresses.
type symbols []symbol

type symbol struct {
	address uint64
	name    string
}

// readSymbols reads a kallsyms. Where the kernel hides its addresses
// (kptr_restrict, proc_sys_kernel(5)) there are none.
func readSymbols(path string) (found symbols, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read kernel symbols: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || !strings.ContainsAny(fields[1], "tTwW") {
			continue
		}
		address, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("read kernel symbols: %s: %w", path, err)
		}
		if address != 0 {
			found = append(found, symbol{address, fields[2]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read kernel symbols: %w", err)
	}
	slices.SortStableFunc(found, func(a, b symbol) int {
		switch {
		case a.address < b.address:
			return -1
		case a.address > b.address:
			return 1
		}
		return 0
	})
	return found, nil
}

// of names the function that an address is in.
func (s symbols) of(address uint64) string {
	at, exact := slices.BinarySearchFunc(s, address, func(one symbol, a uint64) int {
		switch {
		case one.address < a:
			return -1
		case one.address > a:
			return 1
		}
		return 0
	})
	if !exact {
		at--
	}
	if at < 0 {
		return fmt.Sprintf("0x%x", address)
	}
	name, _, _ := strings.Cut(s[at].name, ".") // what the compiler split off: .part.0, .isra.0
	return name
}
