package site

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/probe"
	"tare/result"
)

// The clusters of the baseline at a site: two pairs of processes on the same hosts.
const (
	hostCluster  = catalog.Baseline
	againCluster = catalog.Baseline + "-b"
)

const (
	// frontendSettles is how long frontends may take to lead to their servers, and tryAgain how
	// long one that does not yet is left alone.
	frontendSettles = 5 * time.Second
	tryAgain        = 100 * time.Millisecond
)

// route is a way that is looked for: from which place to which, on which path.
type route struct {
	path, from, to string
	at             []netip.Addr // where the server is reached, if not at its own addresses
	port           uint16       // of the server, if not that of its network; the next one is for trials
}

// containerRoutes are the ways between containers and hosts.
var containerRoutes = []route{
	{path: catalog.SameHost, from: "h1/c1", to: "h1/c2"}, {path: catalog.ContainerToOwnHost, from: "h1/c1", to: "h1"},
	{path: catalog.CrossHost, from: "h1/c1", to: "h2/c1"}, {path: catalog.HostToContainer, from: "h1", to: "h2/c1"},
	{path: catalog.ContainerToHost, from: "h1/c1", to: "h2"},
}

// routesOf are the ways that are looked for on the n-th network.
func (w Way) routesOf(name string, n int, seen map[string]probe.Inventory) []route {
	known, _ := kinds.Find(name)
	routes := slices.DeleteFunc(slices.Clone(containerRoutes), func(r route) bool { return !known.Serves(r.path) })
	for _, d := range w.Frontends {
		if d.Network == name {
			routes = append(routes, route{d.Path, d.From, d.To, []netip.Addr{d.At}, d.Port})
		}
	}
	published, there := result.First(w.Places, func(p Far) bool { return p.Published && p.network() == name })
	if !there {
		return routes
	}
	client := "h1/c1"
	if client == published.Name {
		client = "h1/c2"
	}
	at := candidates(probe.Inventory{}, seen[catalog.HostOf(published.Name)])
	return append(routes,
		route{catalog.PublishedPort, "h1", published.Name, at, publishedPort(n)}, route{catalog.ContainerToPublishedPort, client, published.Name, at, publishedPort(n)})
}

// serverPort is the port of the servers on the n-th network that was found. The two of the
// baseline come first, and before them that of the trials: what they leave may be closing
// still when the first server starts.
func serverPort(n int) uint16 { return uint16(network.SitePort + 3 + n) }

// publishedPort is that of the servers of a container on the n-th network that has them
// published. The next one is for the trials.
func publishedPort(n int) uint16 { return uint16(network.PublishedSitePort + 2*n) }

// explore finds the paths between the places.
func (e *Endpoints) explore(ctx context.Context) (t Topology, err error) {
	seen := map[string]probe.Inventory{}
	for key, o := range e.outposts {
		if seen[key], err = o.Look(ctx); err != nil {
			return t, err
		}
	}
	if err := e.tryClosed(ctx, seen); err != nil {
		return t, err
	}
	e.Controls = map[string][]string{}
	settled := time.Now().Add(frontendSettles + e.way.Settles)
	hosts, err := e.connect(ctx, []route{{path: catalog.SameHost, from: "h1", to: "h1"}, {path: catalog.CrossHost, from: "h1", to: "h2"}}, hostCluster, seen, settled)
	if err != nil {
		return t, err
	}
	mtu := mtuOf(hosts[catalog.CrossHost], seen)
	hostless := e.outposts["h1"] == nil && e.outposts["h2"] == nil
	var found []Built
	for n, name := range networksOf(e.way.Places) {
		routes := e.way.routesOf(name, n, seen)
		paths, err := e.connect(ctx, routes, name, seen, settled)
		if err != nil {
			return t, err
		}
		e.lookAtRelays(ctx, name, paths)
		if text := datapath(paths, seen); text != "" {
			e.Facts = append(e.Facts, text)
		}
		if hostless {
			mtu = mtuOf(paths[catalog.CrossHost], seen)
		} else {
			withBaseline(hosts, routes)
			e.compareWith(hosts, paths)
		}
		found = append(found, siteCluster(name, name, paths, serverPort(n), mtu))
	}
	found = append([]Built{
		siteCluster(hostCluster, catalog.Baseline, hosts, network.SitePort+1, mtu), siteCluster(againCluster, catalog.Baseline, hosts, network.SitePort+2, mtu),
	}, found...)
	t.Clusters = slices.DeleteFunc(found, func(b Built) bool { return len(b.Paths) == 0 })
	if len(t.Clusters) == 0 {
		return t, errors.Join(append([]error{errors.New("no place reaches another: name two that do, as in --endpoint h1='ssh a' --endpoint h2='ssh b'")}, e.Unreached...)...)
	}
	t.Namespaces = e.namespaces(t.Clusters)
	t.Spec = Spec{Site: e.way.Site, Pin: catalog.PinNone}
	t.Places = e.places()
	if e.Common, err = e.commonControl(ctx); err != nil {
		return t, err
	}
	e.LinkRate = linkRate(hosts[catalog.CrossHost], seen)
	e.Differences, err = e.compare(ctx, t.Places, hosts[catalog.CrossHost], seen)
	return t, err
}

// compareWith leaves out the paths that hosts are not there to be compared with on.
func (e *Endpoints) compareWith(hosts, paths map[string]network.Ends) {
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if _, there := hosts[path]; !there {
			delete(paths, path)
			e.Unreached = append(e.Unreached, fmt.Errorf("%s is left out: it is compared with h1 to h2, which is not there: name h2 too", path))
		}
	}
}

// networksOf are the networks that the containers are on, each once.
func networksOf(places []Far) (names []string) {
	for _, p := range places {
		if p.Name != catalog.HostOf(p.Name) {
			names = result.AddOnce(names, p.network())
		}
	}
	return names
}

// places are the machines of the site. Containers that a site made are on that of their host.
func (e *Endpoints) places() (all []result.Place) {
	for _, name := range slices.Sorted(maps.Keys(e.outposts)) {
		if !slices.Contains(Places(), name) {
			continue
		}
		place := e.outposts[name].Greeting.Place
		place.Name = name
		far, _ := result.First(e.way.Places, func(f Far) bool { return f.Label() == name })
		place.Machine = far.Machine
		all = append(all, place)
	}
	return all
}

// namespaces are the places of clusters: endpoint.h1, endpoint.h1/c1.
func (e *Endpoints) namespaces(clusters []Built) (all []string) {
	for _, b := range clusters {
		for _, name := range Places() {
			container := name != catalog.HostOf(name)
			if container && b.Baseline || e.outposts[Label(b.Name, name)] == nil {
				continue
			}
			all = append(all, b.Name+"."+name)
		}
	}
	return all
}

// connect tries the ways on a network, and gives the ends of those that are there. Those through
// frontends are tried again until they have settled.
func (e *Endpoints) connect(ctx context.Context, routes []route, on string, seen map[string]probe.Inventory, settled time.Time) (map[string]network.Ends, error) {
	ends := map[string]network.Ends{}
	for _, r := range routes {
		from, to := Label(on, r.from), Label(on, r.to)
		if e.outposts[from] == nil || e.outposts[to] == nil {
			continue
		}
		way, control, err := e.find(ctx, r, on, seen)
		for r.port > 0 && err != nil && ctx.Err() == nil && time.Now().Before(settled) {
			time.Sleep(tryAgain)
			way, control, err = e.find(ctx, r, on, seen)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			e.Unreached = append(e.Unreached, err)
			if way.Dial.IsValid() {
				e.dead = append(e.dead, deadWay{r.path, wayOn{on, way}})
			}
		default:
			ends[r.path] = way
			e.Controls[control] = append(e.Controls[control], from+" to "+to)
			e.ways = append(e.ways, wayOn{on, way})
		}
	}
	return ends, nil
}

// Doubted is the topology with the paths that carry nothing too, each with the address that is
// likely to be the right one: for who looks for what is wrong there.
func (e *Endpoints) Doubted() Topology {
	t := e.Topology
	t.Clusters = slices.Clone(t.Clusters)
	for n, b := range t.Clusters {
		b.Paths = maps.Clone(b.Paths)
		for _, d := range e.dead {
			if d.on == b.Name {
				b.Paths[d.path] = d.ends
			}
		}
		t.Clusters[n] = b
	}
	return t
}

// withBaseline adds what paths of containers are compared with: the same way between their
// hosts.
func withBaseline(hosts map[string]network.Ends, routes []route) {
	for _, r := range routes {
		of := catalog.CrossHost
		if catalog.HostOf(r.from) == catalog.HostOf(r.to) {
			of = catalog.SameHost
		}
		if ends, there := hosts[of]; there {
			hosts[r.path] = ends
		}
	}
}

// siteCluster is a cluster of the paths that were found.
func siteCluster(name, kind string, paths map[string]network.Ends, port uint16, mtu int) Built {
	known, _ := kinds.Find(kind)
	unserved := slices.DeleteFunc(slices.Clone(known.Paths), func(path string) bool { _, there := paths[path]; return there })
	return Built{
		ClusterSpec: ClusterSpec{Name: name, Network: kind, Axes: result.Params{"nic": string(lab.NICFull), "mtu": float64(mtu)}, Baseline: kind == catalog.Baseline}, Fidelity: catalog.Product,
		Paths: paths, Port: port, Warnings: []string{}, CPUs: map[string]string{}, Unserved: unserved,
	}
}
