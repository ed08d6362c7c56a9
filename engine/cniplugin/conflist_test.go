package cniplugin

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tare/lab"
)

func TestConflistTakesTheHostsValues(t *testing.T) {
	values := Values{Subnet: "10.101.0.0/16", MTU: 1450}
	got, err := Fill(`{"subnet": "{{.Subnet}}", "mtu": {{.MTU}}}`, values)
	if err != nil || string(got) != `{"subnet": "10.101.0.0/16", "mtu": 1450}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, text := range []string{"{{.Subnet", "{{.Sub}}"} {
		if _, err := Fill(text, values); err == nil || !strings.Contains(err.Error(), "CNI configuration list") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRead(t *testing.T) {
	const local = lab.Scratch + "/cni/networks"
	for _, c := range []struct {
		text      string
		plugins   []string
		published bool
		dataDir   string // of the first plugin's ipam
		fails     string // what the error holds
	}{
		{text: `{"plugins": [{"type": "bridge", "ipam": {"type": "host-local"}}]}`, plugins: []string{"bridge", "host-local"}, dataDir: local},
		{text: `{"plugins": [{"type": "bridge", "ipam": {"type": "host-local", "dataDir": "/run/mine"}}]}`, plugins: []string{"bridge", "host-local"}, dataDir: "/run/mine"},
		{text: `{"plugins": [{"type": "bridge", "ipam": {"type": "static"}}, {"type": "portmap", "capabilities": {"portMappings": true}}]}`,
			plugins: []string{"bridge", "static", "portmap"}, published: true},
		{text: `{"plugins": [{"type": "bridge", "ipam": {}}, {"type": "portmap", "capabilities": {"portMappings": false}}]}`, plugins: []string{"bridge", "portmap"}},
		{text: `{"type": "bridge"}`, fails: `no "plugins"`},
		{text: `{"plugins": []}`, fails: `no "plugins"`},
		{text: `{"plugins": ["bridge"]}`, fails: `no "type"`},
		{text: `{"plugins": [{"ipam": {}}]}`, fails: `no "type"`},
		{text: `{`, fails: "read CNI configuration list"},
	} {
		got, err := Read([]byte(c.text))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Plugins, c.plugins) || got.Publishes != c.published {
			t.Errorf("%s: %+v, %v", c.text, got, err)
		}
		var written struct {
			Plugins []struct{ IPAM struct{ DataDir string } }
		}
		if err := json.Unmarshal(got.Text, &written); err != nil || written.Plugins[0].IPAM.DataDir != c.dataDir {
			t.Errorf("%s: written as %s, %v", c.text, got.Text, err)
		}
	}
}

// Numbers of a list stay as they were written.
func TestReadKeepsNumbers(t *testing.T) {
	got, err := Read([]byte(`{"plugins": [{"type": "bandwidth", "ingressRate": 12345678901234567890}]}`))
	if err != nil || !strings.Contains(string(got.Text), "12345678901234567890") {
		t.Errorf("%s, %v", got.Text, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"cniVersion": "1.0.0", "plugins": [{"type": "bridge", "mtu": 1500, "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.1.0.0/16"}]]}}, {"type": "portmap", "capabilities": {"portMappings": true}}]}`))
	f.Add([]byte(`{"plugins": [{"type": "bridge", "ipam": {"type": "host-local"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Read(text)
		if err != nil {
			return
		}
		again, err := Read(list.Text)
		if err != nil || !slices.Equal(again.Plugins, list.Plugins) || again.Publishes != list.Publishes {
			t.Errorf("%q is written as %q: %v", text, list.Text, err)
		}
	})
}
