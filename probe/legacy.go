package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/firewall"
)

// legacyFamily is how the tables of iptables-legacy are stored for one family (struct ipt_entry,
// struct ip6t_entry).
type legacyFamily struct {
	name   string // before the names of its chains
	file   string // which tables there are
	domain int    // of the socket
	level  int
	size   int // of an address
	sizes  int // where an entry has its sizes
	counts int // and its counters
	head   int // how long it is without its matches
}

func legacyFamilies() []legacyFamily {
	return []legacyFamily{
		{"iptables-legacy", "ip_tables_names", unix.AF_INET, unix.SOL_IP, 4, 88, 96, 112},
		{"ip6tables-legacy", "ip6_tables_names", unix.AF_INET6, unix.SOL_IPV6, 16, 140, 152, 168},
	}
}

const (
	legacyInfo    = 64 // IPT_SO_GET_INFO
	legacyEntries = 65 // IPT_SO_GET_ENTRIES
	tableName     = 32
	infoSize      = 84 // struct ipt_getinfo
	entriesHead   = 40 // struct ipt_get_entries
	mostLegacy    = 1 << 20
)

// legacy reads the tables of iptables-legacy that the namespace has. To ask for another one would
// load it.
func (v *view) legacy(names map[uint32]string) ([]listing, error) {
	var all []listing
	for _, f := range legacyFamilies() {
		text, err := v.read("proc/thread-self/net/" + f.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, table := range strings.Fields(string(text)) {
			chains, err := v.legacyTable(f, table, names)
			if err != nil {
				return nil, fmt.Errorf("read table %s of iptables-legacy: %w", table, err)
			}
			all = append(all, chains...)
		}
	}
	return all, nil
}

func (v *view) legacyTable(f legacyFamily, table string, names map[uint32]string) ([]listing, error) {
	fd, err := v.open(source{family: f.domain})
	if err != nil {
		return nil, err
	}
	info := make([]byte, infoSize)
	copy(info[:tableName-1], table)
	if err := option(fd, f.level, legacyInfo, info); err != nil {
		return nil, err
	}
	size := number32(info[infoSize-4:])
	if size > mostLegacy {
		return nil, fmt.Errorf("%d bytes are too many", size)
	}
	entries := make([]byte, entriesHead+int(size))
	copy(entries[:tableName-1], table)
	copy(entries[tableName:], info[infoSize-4:])
	if err := option(fd, f.level, legacyEntries, entries); err != nil {
		return nil, err
	}
	return parseLegacy(f, table, info, entries[entriesHead:], names), nil
}

// option reads an option of a socket into room.
func option(fd, level, name int, room []byte) error {
	size := uint32(len(room))
	_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name),
		uintptr(unsafe.Pointer(&room[0])), uintptr(unsafe.Pointer(&size)), 0)
	if failed != 0 {
		return failed
	}
	return nil
}

// legacyHooks are those of a table, in the kernel's order.
func legacyHooks() []string {
	return []string{"prerouting", "input", "forward", "output", "postrouting"}
}

// legacyPriority is when the chains of a table are met.
func legacyPriority(table, hook string) int {
	if table == "nat" && (hook == "postrouting" || hook == "input") {
		return 100
	}
	return map[string]int{"raw": -300, "mangle": -150, "nat": -100, "security": 50}[table]
}

// parseLegacy reads the entries of one table: those of each hook follow each other and end with
// its policy; those of another chain follow an entry that has its name. A rule's handle is its
// number in its chain.
func parseLegacy(f legacyFamily, table string, info, entries []byte, names map[uint32]string) []listing {
	begins, policies, chains := map[int]string{}, map[int]bool{}, map[int]string{}
	for n, hook := range legacyHooks() {
		if number32(info[tableName:])&(1<<n) != 0 {
			begins[int(number32(info[36+4*n:]))] = hook
			policies[int(number32(info[56+4*n:]))] = true
		}
	}
	for at, entry := range f.entries(entries) {
		if target, _, named := xtName(entry[number16(entry[f.sizes:]):]); target == "ERROR" {
			chains[at+len(entry)] = word(named)
		}
	}
	var all []listing
	for at, entry := range f.entries(entries) {
		hook, name := begins[at], chains[at]
		if hook != "" {
			name = strings.ToUpper(hook)
		}
		if name != "" {
			all = append(all, listing{Chain: firewall.Chain{Name: f.name + " " + table + " " + name, Hook: hook}})
			if hook != "" {
				all[len(all)-1].Priority = legacyPriority(table, hook)
			}
		}
		target, revision, to := xtName(entry[number16(entry[f.sizes:]):])
		if len(all) == 0 || target == "ERROR" {
			continue
		}
		into := &all[len(all)-1]
		packets := float64(number64(entry[f.counts:]))
		if policies[at] && into.Hook != "" {
			into.Policy, into.counts, into.packets = verdictOf(int32(number32(to))), true, packets
			continue
		}
		d := decoder{names: names, family: strings.TrimSuffix(f.name, "tables-legacy")}
		d.entry(f, entry)
		d.act("counter")
		if target == "" {
			d.act(jump(int(int32(number32(to))), at+len(entry), chains))
		} else {
			d.act(xtTarget(target, revision, to))
		}
		into.Listed = append(into.Listed, firewall.Listed{Handle: strconv.Itoa(len(into.Listed) + 1), Rule: d.rule})
		into.met = append(into.met, packets)
	}
	return all
}

// jump is what a standard target does.
func jump(code, next int, chains map[int]string) string {
	if code < 0 {
		return verdictOf(int32(code))
	}
	if code == next || chains[code] == "" {
		return ""
	}
	return "jump " + chains[code]
}

// entry reads what an entry compares: by itself and by its matches.
func (d *decoder) entry(f legacyFamily, entry []byte) {
	d.entryHeader(entry, f.size)
	end := int(number16(entry[f.sizes:]))
	for at := f.head; at+xtHeader <= end; {
		size := int(number16(entry[at:]))
		if size < xtHeader || at+size > end {
			return
		}
		name, _, info := xtName(entry[at : at+size])
		d.xtables(name, info)
		at += size
	}
}

// entries walks over the entries of a table, by their places. It ends where the bytes make none.
func (f legacyFamily) entries(data []byte) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		for at := 0; at+f.head <= len(data); {
			target, size := int(number16(data[at+f.sizes:])), int(number16(data[at+f.sizes+2:]))
			if target < f.head || size < target || at+size > len(data) || !yield(at, data[at:at+size]) {
				return
			}
			at += size
		}
	}
}
