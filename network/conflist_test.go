package network

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tare/lab"
)

func TestConflistTakesTheHostsValues(t *testing.T) {
	values := conflistValues{Subnet: "10.101.0.0/16", MTU: 1450}
	got, err := fillConflist(`{"subnet": "{{.Subnet}}", "mtu": {{.MTU}}}`, values)
	if err != nil || string(got) != `{"subnet": "10.101.0.0/16", "mtu": 1450}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, text := range []string{"{{.Subnet", "{{.Sub}}"} {
		if _, err := fillConflist(text, values); err == nil || !strings.Contains(err.Error(), "CNI configuration list") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadConflist(t *testing.T) {
	const local = lab.Scratch + "/cni/networks"
	for _, c := range []struct {
		text      string
		plugins   []string
		published bool
		dataDir   string // of the first plugin's ipam
		says      string // of the error
	}{
		{text: `{"plugins": [{"type": "bridge", "ipam": {"type": "host-local"}}]}`, plugins: []string{"bridge", "host-local"}, dataDir: local},
		{text: `{"plugins": [{"type": "bridge", "ipam": {"type": "host-local", "dataDir": "/run/mine"}}]}`, plugins: []string{"bridge", "host-local"}, dataDir: "/run/mine"},
		{text: `{"plugins": [{"type": "bridge", "ipam": {"type": "static"}}, {"type": "portmap", "capabilities": {"portMappings": true}}]}`,
			plugins: []string{"bridge", "static", "portmap"}, published: true},
		{text: `{"plugins": [{"type": "bridge", "ipam": {}}, {"type": "portmap", "capabilities": {"portMappings": false}}]}`, plugins: []string{"bridge", "portmap"}},
		{text: `{"type": "bridge"}`, says: `no "plugins"`},
		{text: `{"plugins": []}`, says: `no "plugins"`},
		{text: `{"plugins": ["bridge"]}`, says: `no "type"`},
		{text: `{"plugins": [{"ipam": {}}]}`, says: `no "type"`},
		{text: `{`, says: "read CNI configuration list"},
	} {
		got, err := readConflist([]byte(c.text))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.plugins, c.plugins) || got.published != c.published {
			t.Errorf("%s: %+v, %v", c.text, got, err)
		}
		var written struct {
			Plugins []struct{ IPAM struct{ DataDir string } }
		}
		if err := json.Unmarshal(got.text, &written); err != nil || written.Plugins[0].IPAM.DataDir != c.dataDir {
			t.Errorf("%s: written as %s, %v", c.text, got.text, err)
		}
	}
}

// Numbers of a list stay as they were written.
func TestReadConflistKeepsNumbers(t *testing.T) {
	got, err := readConflist([]byte(`{"plugins": [{"type": "bandwidth", "ingressRate": 12345678901234567890}]}`))
	if err != nil || !strings.Contains(string(got.text), "12345678901234567890") {
		t.Errorf("%s, %v", got.text, err)
	}
}

func FuzzReadConflist(f *testing.F) {
	f.Add([]byte(cniConflist))
	f.Add([]byte(`{"plugins": [{"type": "bridge", "ipam": {"type": "host-local"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readConflist(text)
		if err != nil {
			return
		}
		again, err := readConflist(list.text)
		if err != nil || !slices.Equal(again.plugins, list.plugins) || again.published != list.published {
			t.Errorf("%q is written as %q: %v", text, list.text, err)
		}
	})
}
