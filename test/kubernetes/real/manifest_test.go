package real

// manifest is a server on each node, which answers with the node's name, and
// services before it.
const manifest = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: web
        image: localhost/busybox:lab
        command: [sh, -c, 'echo $NODE > /tmp/index.html; exec httpd -f -p 80 -h /tmp']
        env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80, nodePort: 30080}]}
`
