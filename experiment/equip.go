package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tare/catalog"
	"tare/engine"
	"tare/result"
	"tare/workload"
)

// Equip chooses the real servers and clients of a checked plan: those that it
// names, else those that this machine has. A workload whose server is missing
// and has no other gives a *engine.MissingError.
func Equip(p result.Plan) (result.Plan, error) {
	p.Workloads = slices.Clone(p.Workloads)
	for i := range p.Workloads {
		w := &p.Workloads[i]
		kind, _ := workload.Find(w.Name)
		if err := equipServer(w, kind); err != nil {
			return p, err
		}
		if err := equipTool(w, kind); err != nil {
			return p, err
		}
	}
	return p, nil
}

func equipServer(w *result.WorkloadPlan, kind workload.Workload) error {
	if w.Server == catalog.Ours || len(kind.Servers) == 0 {
		return nil
	}
	var missing *engine.MissingError
	for _, s := range kind.ServedBy {
		if w.Server != "" && w.Server != s.Name {
			continue
		}
		_, err := s.Program.Find()
		if err == nil {
			w.Server = s.Name
			return nil
		}
		if missing == nil {
			missing = lacking(s.Program, err)
		}
	}
	if w.Server == "" && kind.Serve != nil && w.Tool == "" {
		w.Server = catalog.Ours
		return nil
	}
	return fmt.Errorf("workload %s: %w", w.Name, missing)
}

func equipTool(w *result.WorkloadPlan, kind workload.Workload) error {
	if w.Tool == catalog.Ours || len(kind.Tools) == 0 {
		return nil
	}
	for _, t := range kind.DrivenBy {
		if w.Tool != "" && w.Tool != t.Name || w.Tool == "" && (!t.Preferred || w.Server == catalog.Ours || !does(t, *w, kind)) {
			continue
		}
		_, err := t.Program.Find()
		if err == nil {
			w.Tool = t.Name
			return nil
		}
		if w.Tool != "" {
			return fmt.Errorf("workload %s: %w", w.Name, lacking(t.Program, err))
		}
	}
	w.Tool = catalog.Ours
	return nil
}

// does reports whether a tool can do what the plan asks of the workload. All of
// them are closed loops.
func does(t workload.Tool, w result.WorkloadPlan, kind workload.Workload) bool {
	return w.Rate.Value == 0 && slices.Contains(t.Modes, cmp.Or(w.Mode, kind.Modes[0]))
}

func lacking(p workload.Program, err error) *engine.MissingError {
	return &engine.MissingError{What: p.Name, Get: p.Get, Err: err}
}

// checkEquipment refuses servers and tools that the workload does not have.
func checkEquipment(w result.WorkloadPlan, kind workload.Workload) error {
	servers, tools := []string{}, []string{catalog.Ours}
	if kind.Serve != nil {
		servers = append(servers, catalog.Ours)
	}
	servers, tools = append(servers, kind.Servers...), append(tools, kind.Tools...)
	if w.Server != "" && !slices.Contains(servers, w.Server) {
		return Unknown("server of "+w.Name, w.Server, servers)
	}
	if w.Tool == "" || w.Tool == catalog.Ours {
		return nil
	}
	tool, known := kind.FindTool(w.Tool)
	switch {
	case !known:
		return Unknown("tool of "+w.Name, w.Tool, tools)
	case w.Server == catalog.Ours:
		return &InputError{fmt.Sprintf("tool %s of %s: it goes to real servers: leave server out", w.Tool, w.Name)}
	case w.Rate.Value != 0:
		return &InputError{fmt.Sprintf("rate %v of %s: %s asks as fast as it is answered: leave one of the two out", w.Rate, w.Name, w.Tool)}
	case !does(tool, w, kind):
		return &InputError{fmt.Sprintf("mode %s of %s: %s does only %s", cmp.Or(w.Mode, kind.Modes[0]), w.Name, w.Tool, strings.Join(tool.Modes, ", "))}
	}
	return nil
}

// notOurs is the name of a real server or tool in a run; ours has none there.
func notOurs(name string) string {
	if name == catalog.Ours {
		return ""
	}
	return name
}

// addEquipment adds the programs at the two ends to a cell's parameters.
func addEquipment(values result.Params, name string, run workload.Run) {
	if kind, _ := workload.Find(name); kind.Application() {
		values["server"], values["tool"] = cmp.Or(run.Server, catalog.Ours), cmp.Or(run.Tool, catalog.Ours)
	}
}

// equipment gives the real programs of a plan and their versions.
func equipment(ctx context.Context, p result.Plan) (map[string]string, error) {
	versions := map[string]string{}
	for _, w := range p.Workloads {
		kind, _ := workload.Find(w.Name)
		var programs []workload.Program
		if s, has := kind.FindServer(w.Server); has {
			programs = append(programs, s.Program)
		}
		if t, has := kind.FindTool(w.Tool); has {
			programs = append(programs, t.Program)
		}
		for _, program := range programs {
			version, err := program.PrintedVersion(ctx)
			if err != nil {
				return nil, err
			}
			versions[program.Name] = version
		}
	}
	return versions, nil
}
