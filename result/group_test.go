package result

import (
	"bytes"
	"testing"

	"tare/test/labtest"
)

// TestOlderFilesGetGroups reads a file of a version that had none: two links, a
// network with its own link, one with its own parameters, and one that
// failed before anything was known of it.
func TestOlderFilesGetGroups(t *testing.T) {
	cell := func(network, mode string, params Params) Cell {
		c := Cell{Network: network, Path: "cross-host", Workload: "mysql", Mode: mode, Params: params, Status: StatusOK}
		if mode == "" {
			c.Status = StatusFailed
		}
		return c
	}
	frames := func(link float64) Params {
		return Params{"nic": "frames", "mtu": 1500, "connections": 16, "link": link, "duration": 2.0}
	}
	res := &Result{Schema: Schema, Cells: []Cell{
		cell("host", "prepared", frames(4e8)), cell("host", "prepared", frames(1e9)),
		cell("vxlan", "prepared", frames(1e9)),
		cell("ptp", "prepared", frames(1e8)),
		cell("nat", "prepared", Params{"nic": "frames", "mtu": 1500, "connections": 16, "link": 1e9, "rules": 100.0, "duration": 9.0}),
		cell("route", "prepared", Params{"nic": "frames", "mtu": 1500, "connections": 64, "link": 1e9}),
		cell("bridge", "", Params{}),
		cell("veth", "prepared", Params{"nic": "tso", "mtu": 1500, "connections": 16}),
	}}
	const group = "path=cross-host workload=mysql mode=prepared nic=frames mtu=1500 "
	want := []string{
		group + "link=400000000 connections=16", group + "link=1000000000 connections=16",
		group + "link=1000000000 connections=16",
		group + "link=400000000 connections=16", // the first baseline that agrees but for the link
		group + "link=1000000000 connections=16",
		group + "link=1000000000 connections=64",
		group + "link=400000000 connections=16",
		"path=cross-host workload=mysql mode=prepared nic=tso mtu=1500 connections=16", // another nic, and no link that implies one
	}
	check := func(how string, res *Result) {
		for n, c := range res.Cells {
			if c.Group != want[n] {
				t.Errorf("%s: cell %d, %s: %q, want %q", how, n, c.Network, c.Group, want[n])
			}
		}
	}
	var file bytes.Buffer
	if err := res.Write(&file); err != nil {
		t.Fatal(err)
	}
	check("written", res)
	read, err := Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	check("read again", read)
	older, err := Read(bytes.NewReader(bytes.ReplaceAll(file.Bytes(), []byte(`"group"`), []byte(`"once"`))))
	if err != nil {
		t.Fatal(err)
	}
	check("read from an older file", older)
}

// TestKeysAreOfWords checks that a key can be split into its words, whatever its
// values, and that a parameter with its default value changes no key.
func TestKeysAreOfWords(t *testing.T) {
	params := Params{"nic": "a b=c\n%", "link": 0.0, "reverse": false, "bidir": nil, "rules": 7, "duration": 1.0}
	key := GroupKey("cross-host", "tcp_rr", "wait", params)
	if want := "path=cross-host workload=tcp_rr mode=wait nic=a%20b=c%0A%25"; key != want {
		t.Errorf("key %q, want %q", key, want)
	}
	if got, want := Without(key, "nic", InMode), "path=cross-host workload=tcp_rr"; got != want {
		t.Errorf("without the nic and the mode: %q, want %q", got, want)
	}
}

// TestNumbersAreReadFromMemoryAndFromFiles holds every type that a number has.
func TestNumbersAreReadFromMemoryAndFromFiles(t *testing.T) {
	for _, value := range []any{1448, 1448.0, int64(1448), uint16(1448), uint32(1448), uint64(1448)} {
		p := Params{"size": value}
		if p.Number("size") != 1448 || p.Count("size") != 1448 || p.Text("size") != "1448" {
			t.Errorf("%T: %v, %d, %q", value, p.Number("size"), p.Count("size"), p.Text("size"))
		}
	}
	p := Params{"nic": "full", "cc": nil}
	labtest.Equal(t, "number of a text", p.Number("nic"), 0)
	labtest.Equal(t, "text of what is not there", p.Text("mtu"), "")
	labtest.Equal(t, "has what is nil", p.Has("cc"), false)
	labtest.Equal(t, "has a text", p.Has("nic"), true)
	if p := (Params{"flows": 4, "rules": 100, "rules_by": "nftables", "nic": "full"}); p.Settings().String() != "rules=100 rules_by=nftables" || p.AtOnce() != 4 {
		t.Errorf("settings %q, concurrent %v", p.Settings(), p.AtOnce())
	}
}
