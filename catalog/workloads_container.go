package catalog

// closedLoop is the mode of the workloads that make containers: a worker begins
// with the next when the last is gone.
const closedLoop = "closed-loop"

// mostWorkers is how many containers are made at once at most.
const mostWorkers = 10

// containerWorkloads make containers.
func containerWorkloads() []Workload {
	return []Workload{
		{
			Name: "lifecycle", Doc: "create, start and delete containers without a network: an engine's rate",
			Modes: []string{closedLoop}, Headline: "rate", Work: PerTransaction, Camel: "Lifecycle",
			Flows: mostWorkers, FlowsDefault: []int{1, 10}, Pathless: true,
		},
		{
			Name: "attach", Doc: "create a container, attach it, first packet answered, remove it: how long until it can be used",
			Modes: []string{closedLoop}, Headline: "latency_p50", Work: PerTransaction, Camel: "Attach", Unlike: true, // its baseline is a socket
			Columns: []string{"latency_network", "latency_p99", "latency_remove", "rate", "cpu_per_transaction"}, Flows: mostWorkers,
		},
	}
}
