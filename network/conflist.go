package network

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
	"text/template"

	"tare/lab"
)

// cniState is where CNI and its plugin host-local keep theirs, in a host.
const cniState = lab.Scratch + "/cni"

// conflistValues are what a CNI configuration list may take from its host.
type conflistValues struct {
	Subnet   string // the host's own range: 10.101.0.0/16
	Gateway  string // its first address: 10.101.0.1
	Host     string // the host's address on the underlay: 10.0.0.1
	Number   int    // of the host, from 1
	Device   string // the host's interface to the underlay
	MTU      int    // of the underlay, bytes
	Underlay string // the underlay's range: 10.0.0.0/16
	First    string // the host's own part of the underlay's range, for containers
	Last     string // that live on it: 10.0.4.1 to 10.0.7.232
}

func valuesOf(h *lab.Host, mtu int) conflistValues {
	return conflistValues{
		Subnet: h.Subnet().String(), Gateway: h.ContainerAddr(0).String(),
		Host: h.Addr.String(), Number: h.Number, Device: lab.Device, MTU: mtu,
		Underlay: netip.PrefixFrom(h.Addr, 16).Masked().String(),
		First:    lab.UnderlayAddr(h.Number, 1).String(),
		Last:     lab.UnderlayAddr(h.Number, lab.MaxContainers).String(),
	}
}

// fillConflist fills in a configuration list that is a text/template.
func fillConflist(text string, values any) ([]byte, error) {
	filled, err := template.New("conflist").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read CNI configuration list: %w", err)
	}
	var list bytes.Buffer
	if err := filled.Execute(&list, values); err != nil {
		return nil, fmt.Errorf("fill in CNI configuration list: %w", err)
	}
	return list.Bytes(), nil
}

// conflist is a CNI configuration list as far as a lab must know it.
type conflist struct {
	text      []byte
	plugins   []string // and the IPAM plugins that they call
	published bool     // a plugin publishes ports
}

// readConflist reads a list, and lets host-local keep its addresses in the
// host's own memory where the list does not say where.
func readConflist(text []byte) (conflist, error) {
	var whole map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&whole); err != nil {
		return conflist{}, fmt.Errorf("read CNI configuration list: %w", err)
	}
	entries, listed := whole["plugins"].([]any)
	if !listed || len(entries) == 0 {
		return conflist{}, errors.New(`read CNI configuration list: it has no "plugins": give a .conflist, not the configuration of one plugin`)
	}
	var list conflist
	for _, entry := range entries {
		plugin, isObject := entry.(map[string]any)
		name, named := plugin["type"].(string)
		if !isObject || !named {
			return conflist{}, errors.New(`read CNI configuration list: a plugin has no "type"`)
		}
		list.plugins = append(list.plugins, name)
		if capabilities, has := plugin["capabilities"].(map[string]any); has && capabilities["portMappings"] == true {
			list.published = true
		}
		if ipam, has := plugin["ipam"].(map[string]any); has {
			list.addIPAM(ipam)
		}
	}
	var err error
	list.text, err = json.MarshalIndent(whole, "", "  ")
	return list, err
}

func (l *conflist) addIPAM(ipam map[string]any) {
	name, named := ipam["type"].(string)
	if !named {
		return // as for a plugin that needs no addresses
	}
	l.plugins = append(l.plugins, name)
	if _, said := ipam["dataDir"]; name == "host-local" && !said {
		ipam["dataDir"] = cniState + "/networks"
	}
}

// The folders of CNI plugins: Debian's, and that of everybody else.
func cniFolders() []string { return []string{"/usr/lib/cni", "/opt/cni/bin"} }

// cniFolder is the first of the folders that holds a plugin; others are looked
// in before those that every machine may have.
func cniFolder(plugin string, others ...string) (string, error) {
	for _, folder := range slices.Concat(others, cniFolders()) {
		info, err := os.Stat(filepath.Join(folder, plugin))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return folder, nil
		}
	}
	return "", fmt.Errorf("CNI plugin %s is not in %s", plugin, strings.Join(slices.Concat(others, cniFolders()), ", "))
}

// cniPackage gets the plugins of the CNI project.
const cniPackage = "apt-get install containernetworking-plugins"

// cniPlugins are plugins of the CNI project that must stand in one folder.
func cniPlugins(names ...string) Need {
	return Need{What: "CNI plugins", Get: cniPackage, Find: func() (string, error) {
		folder, err := cniFolder(names[0])
		for _, name := range names[1:] {
			if err == nil {
				_, err = os.Stat(filepath.Join(folder, name))
			}
		}
		return folder, err
	}}
}
