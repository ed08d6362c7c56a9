package lab

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tare/catalog"
)

func TestParseCPUSet(t *testing.T) {
	for _, c := range []struct {
		text string
		want CPUSet // nil: refused
	}{
		{"0", CPUSet{0}},
		{"0-3,8", CPUSet{0, 1, 2, 3, 8}},
		{"8,0-3", CPUSet{0, 1, 2, 3, 8}},
		{"1,1,0-1", CPUSet{0, 1}},
		{" 2-2\n", CPUSet{2}},
		{"1023", CPUSet{1023}},
		{"1024", nil},
		{"", nil},
		{",", nil},
		{"0,", nil},
		{"3-1", nil},
		{"-1", nil},
		{"0-", nil},
		{"0-3-5", nil},
		{"0x1", nil},
		{"a", nil},
		{"0-99999999999999999999", nil},
	} {
		got, err := ParseCPUSet(c.text)
		if (err == nil) != (c.want != nil) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("ParseCPUSet(%q) = %v, %v; want %v", c.text, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "0-3,8") {
			t.Errorf("ParseCPUSet(%q): %v: the error does not explain how to write a list", c.text, err)
		}
	}
}

func FuzzParseCPUSet(f *testing.F) {
	for _, text := range []string{"0", "0-3,8", "3-1", "", "1023", "0-1023", "-", "1,,2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := ParseCPUSet(text)
		if err != nil {
			return
		}
		again, err := ParseCPUSet(set.String())
		if err != nil || !reflect.DeepEqual(set, again) {
			t.Errorf("%q is %v; written as %q it is %v, %v", text, set, set, again, err)
		}
	})
}

// anySet draws a CPU set that is not empty.
func anySet(t *rapid.T) CPUSet {
	numbers := rapid.SliceOfNDistinct(rapid.IntRange(0, catalog.MaxCPUs-1), 1, 40, rapid.ID[int]).Draw(t, "cpus")
	var parts []string
	for _, n := range numbers {
		parts = append(parts, strconv.Itoa(n))
	}
	set, err := ParseCPUSet(strings.Join(parts, ","))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestCPUSetIsReadBackAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := anySet(t)
		again, err := ParseCPUSet(set.String())
		if err != nil || !reflect.DeepEqual(set, again) {
			t.Fatalf("%v written as %q is read as %v, %v", set, set, again, err)
		}
	})
}

func TestMask(t *testing.T) {
	for _, c := range []struct {
		set  CPUSet
		want string
	}{
		{nil, "0"},
		{CPUSet{0}, "00000001"},
		{CPUSet{0, 1, 5}, "00000023"},
		{CPUSet{31}, "80000000"},
		{CPUSet{32}, "00000001,00000000"},
		{CPUSet{0, 95}, "80000000,00000000,00000001"},
	} {
		if got := c.set.mask(); got != c.want {
			t.Errorf("mask of %v = %q, want %q", c.set, got, c.want)
		}
	}
}

func TestMaskHasTheBitsOfTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := anySet(t)
		var got CPUSet
		words := strings.Split(set.mask(), ",")
		for n := range words {
			word, err := strconv.ParseUint(words[len(words)-1-n], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			for bit := range 32 {
				if word>>bit&1 == 1 {
					got = append(got, 32*n+bit)
				}
			}
		}
		if !reflect.DeepEqual(got, set) {
			t.Fatalf("mask %s of %v has the bits %v", set.mask(), set, got)
		}
	})
}

func TestFirstCPUs(t *testing.T) {
	for n, want := range []string{"2,5", "2", "2,5"} {
		if got, err := (CPUSet{2, 5}).first(n); err != nil || got.String() != want {
			t.Errorf("the first %d are %s (%v), want %s", n, got, err, want)
		}
	}
	if _, err := (CPUSet{2, 5}).first(3); err == nil || !strings.Contains(err.Error(), "it has 2 of the 3 that were asked for") {
		t.Errorf("the first 3 of 2: %v", err)
	}
}

func TestPlace(t *testing.T) {
	four, two, one := CPUSet{0, 1, 2, 3}, CPUSet{4, 7}, CPUSet{5}
	for _, c := range []struct {
		about  string
		config Config
		count  int
		want   []CPUSet
		shared bool
	}{
		{"apart, enough", Config{Pin: catalog.PinApart, All: four}, 2, []CPUSet{{0, 1}, {2, 3}}, false},
		{"apart, one each", Config{Pin: catalog.PinApart, All: two}, 2, []CPUSet{{4}, {7}}, false},
		{"apart, one left over", Config{Pin: catalog.PinApart, All: four}, 3, []CPUSet{{0}, {1}, {2}}, false},
		{"apart, too few", Config{Pin: catalog.PinApart, All: two}, 3, []CPUSet{{4}, {7}, {4}}, true},
		{"apart, one CPU", Config{Pin: catalog.PinApart, All: one}, 2, []CPUSet{{5}, {5}}, true},
		{"same", Config{Pin: catalog.PinSame, All: four}, 2, []CPUSet{{0, 1}, {0, 1}}, false},
		{"same, one CPU", Config{Pin: catalog.PinSame, All: one}, 2, []CPUSet{{5}, {5}}, false},
		{"none", Config{Pin: catalog.PinNone, All: four}, 2, []CPUSet{nil, nil}, false},
		{"chosen", Config{Pin: catalog.PinApart, All: four, CPUs: Places{"h2": {3}}}, 2, []CPUSet{{0, 1}, {3}}, false},
	} {
		for n, want := range c.want {
			got, shared := c.config.place("h"+strconv.Itoa(n+1), n, c.count)
			if !reflect.DeepEqual(got, want) || shared != c.shared {
				t.Errorf("%s: host %d has CPUs %v, shared %t; want %v, %t", c.about, n+1, got, shared, want, c.shared)
			}
		}
	}
}

func TestHostsApartShareNoCPU(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := anySet(t)
		count := rapid.IntRange(1, len(all)).Draw(t, "hosts")
		taken := map[int]int{}
		for n := range count {
			cpus, shared := Config{Pin: catalog.PinApart, All: all}.place("h", n, count)
			if shared || len(cpus) == 0 {
				t.Fatalf("host %d of %d on %v: %v, shared %t", n, count, all, cpus, shared)
			}
			for _, cpu := range cpus {
				taken[cpu]++
			}
		}
		for cpu, hosts := range taken {
			if hosts > 1 {
				t.Fatalf("CPU %d belongs to %d hosts", cpu, hosts)
			}
		}
	})
}
