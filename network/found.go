package network

// SitePort is the first of the ports on which servers listen at places that tare did not
// build: each cluster of them has its own, since they share the machines.
const SitePort = 5220

// PublishedSitePort is the first of those that hosts of such places publish.
const PublishedSitePort = 5300
