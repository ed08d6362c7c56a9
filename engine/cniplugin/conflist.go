package cniplugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/text"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
)

// Values are what a configuration list can take from its host, as a template.
type Values struct {
	Subnet   string // the host's range for containers: 10.101.0.0/16
	Subnet6  string // the same of IPv6: fd74:6172:6500::a65:0/112; empty: the host has no IPv6
	Gateway  string // its first address: 10.101.0.1
	Host     string // the host's address on the underlay: 10.0.0.1
	Number   int    // of the host, from 1
	Device   string // the host's interface on the underlay
	MTU      int    // of the underlay, bytes
	Underlay string // the underlay's range: 10.0.0.0/16
	First    string // of the addresses on the underlay that the host has for its containers: 10.0.4.1
	Last     string // of them: 10.0.7.232
}

// ValuesOf returns the values of a host on an underlay of an MTU.
func ValuesOf(h *lab.Host, mtu int) Values {
	values := Values{
		Subnet: h.Subnet().String(), Gateway: h.ContainerAddr(0).String(),
		Host: h.Addr.String(), Number: h.Number, Device: lab.Device, MTU: mtu,
		Underlay: netip.PrefixFrom(h.Addr, 16).Masked().String(),
		First:    lab.UnderlayAddr(h.Number, 1).String(),
		Last:     lab.UnderlayAddr(h.Number, catalog.MaxContainers).String(),
	}
	if h.At().Is6() {
		values.Subnet6 = lab.IPv6PrefixOf(h.Subnet()).String()
	}
	return values
}

// Fill fills in a configuration list that is a text/template.
func Fill(text string, values any) ([]byte, error) {
	parsed, err := template.New("conflist").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read CNI configuration list: %w", err)
	}
	var list bytes.Buffer
	if err := parsed.Execute(&list, values); err != nil {
		return nil, fmt.Errorf("fill in CNI configuration list: %w", err)
	}
	return list.Bytes(), nil
}

// List is a CNI configuration list.
type List struct {
	Text      []byte   // as the plugins get it
	Plugins   []string // and the IPAM plugins that they call
	Publishes bool     // a plugin publishes ports
}

// Read reads a list. Where the list does not name a folder for the addresses of
// host-local, they stay in the host's memory.
func Read(text []byte) (List, error) {
	var whole map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&whole); err != nil {
		return List{}, fmt.Errorf("read CNI configuration list: %w", err)
	}
	entries, listed := whole["plugins"].([]any)
	if !listed || len(entries) == 0 {
		return List{}, errors.New(`read CNI configuration list: it has no "plugins": give a .conflist, not the configuration of one plugin`)
	}
	var list List
	for _, entry := range entries {
		plugin, isObject := entry.(map[string]any)
		name, named := plugin["type"].(string)
		if !isObject || !named {
			return List{}, errors.New(`read CNI configuration list: a plugin has no "type"`)
		}
		list.Plugins = append(list.Plugins, name)
		if capabilities, has := plugin["capabilities"].(map[string]any); has && capabilities["portMappings"] == true {
			list.Publishes = true
		}
		if ipam, has := plugin["ipam"].(map[string]any); has {
			list.addIPAM(ipam)
		}
	}
	var err error
	list.Text, err = json.MarshalIndent(whole, "", "  ")
	return list, err
}

func (l *List) addIPAM(ipam map[string]any) {
	name, named := ipam["type"].(string)
	if !named {
		return // as for a plugin that needs no addresses
	}
	l.Plugins = append(l.Plugins, name)
	if _, set := ipam["dataDir"]; name == "host-local" && !set {
		ipam["dataDir"] = state + "/networks"
	}
}

// Check returns a *engine.MissingError for the first plugin of the list that is
// in none of the given folders and in no usual one.
func (l List) Check(folders []string) error {
	for _, name := range l.Plugins {
		if _, err := Folder(name, folders...); err != nil {
			return &engine.MissingError{What: "CNI plugin " + name, Get: debianPackage + ", or name its folder by --cni-bin", Err: err}
		}
	}
	return nil
}

// usualFolders hold CNI plugins: Debian's, and that of all others.
func usualFolders() []string { return []string{"/usr/lib/cni", "/opt/cni/bin"} }

// Folder returns the first folder that holds a plugin: of the given ones, then of
// the usual ones.
func Folder(plugin string, first ...string) (string, error) {
	for _, folder := range slices.Concat(first, usualFolders()) {
		info, err := os.Stat(filepath.Join(folder, plugin))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return folder, nil
		}
	}
	return "", fmt.Errorf("%s is not in %s", plugin, strings.Join(slices.Concat(first, usualFolders()), ", "))
}

// debianPackage installs the plugins of the CNI project.
const debianPackage = "apt-get install containernetworking-plugins"

// Need are plugins of the CNI project that must be in one folder, which is
// what its Find returns.
func Need(names ...string) engine.Need {
	return engine.Need{What: "CNI plugins", Get: debianPackage, Find: func() (string, error) {
		folder, err := Folder(names[0])
		for _, name := range names[1:] {
			if err == nil {
				_, err = os.Stat(filepath.Join(folder, name))
			}
		}
		return folder, err
	}}
}
