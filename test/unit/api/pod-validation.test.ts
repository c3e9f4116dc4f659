import { podResource } from '../../../src/api/core/v1/pod.ts';
import { testCreate, testUpdate } from '../../fixtures/kinds.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
};

/** A patch of the first container. */
const container = (fields: object) => ({
  spec: { containers: [{ name: 'web', image: 'nginx:1.27', ...fields }] },
});
const spec = (fields: object) => ({ spec: fields });
const c0 = 'spec.containers[0]';
const term = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]';

testCreate(podResource, pod, [
  ['dotted name', { metadata: { name: 'web.example' } }],
  [
    'upper-case name',
    { metadata: { name: 'Web' } },
    'metadata.name: Invalid value: "Web": a lowercase RFC 1123',
  ],
  [
    'label value',
    { metadata: { labels: { a: 'b c' } } },
    'metadata.labels: Invalid value: "b c": a valid label',
  ],
  [
    'lines of /etc/hosts',
    spec({ hostAliases: [{ ip: '192.0.2.7', hostnames: ['db', 'db.example'] }, { ip: '2001:db8::7' }] }),
  ],
  [
    'wrong lines of /etc/hosts',
    spec({
      hostAliases: [
        { ip: '192.0.2.7', hostnames: ['a'] },
        { ip: '192.0.2', hostnames: ['b', 'B'] },
      ],
    }),
    'spec.hostAliases[1].ip: Invalid value: "192.0.2": must be a valid IP address',
    'spec.hostAliases[1].hostnames[1]: Invalid value: "B": a lowercase RFC 1123 subdomain',
  ],
  [
    'sysctls',
    spec({
      securityContext: {
        sysctls: [
          { name: 'net/ipv4/tcp_syncookies', value: '1' },
          { name: 'foo-', value: 'bar' },
          { name: '', value: '' },
          { name: 'net/ipv4/tcp_syncookies', value: '0' },
        ],
      },
    }),
    'spec.securityContext.sysctls[1].name: Invalid value: "foo-": must have at most 253 characters and match regex',
    'spec.securityContext.sysctls[2].name: Required value',
    'spec.securityContext.sysctls[3].name: Duplicate value: "net/ipv4/tcp_syncookies"',
  ],
  [
    'groups and a deadline',
    spec({ activeDeadlineSeconds: 0, securityContext: { fsGroup: -1, supplementalGroups: [0, 2147483648] } }),
    'spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647',
    'spec.securityContext.supplementalGroups[1]: Invalid value: 2147483648: must be between',
    'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
  ],
  [
    'processes of the pod and of the host',
    spec({ hostPID: true, shareProcessNamespace: true }),
    'spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
  ],
  [
    'no new privileges and all of them',
    container({ securityContext: { allowPrivilegeEscalation: false, privileged: true } }),
    `${c0}.securityContext: Invalid value:`,
  ],
  [
    'no new privileges and the right to all of them',
    container({
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { add: ['NET_ADMIN', 'CAP_SYS_ADMIN'] },
      },
    }),
    `${c0}.securityContext: Invalid value:`,
  ],
  [
    'a gate, and a node',
    spec({ nodeName: 'n', schedulingGates: [{ name: 'a.example/b' }] }),
    'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ],
  [
    'an affinity to nodes',
    spec({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'disk', operator: 'In' },
                  { key: 'disk', operator: 'Exists', values: ['a'] },
                  { key: 'disk', operator: 'Gt', values: ['1', '2'] },
                  { key: 'a b', operator: 'In', values: ['c d'] },
                ],
                matchFields: [{ key: 'spec.x', operator: 'In', values: ['a'] }],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }],
        },
      },
    }),
    `${term}.matchExpressions[0].values: Required value: must be specified when`,
    `${term}.matchExpressions[1].values: Forbidden: may not be specified when`,
    `${term}.matchExpressions[2].values: Required value: must be specified single value when`,
    `${term}.matchExpressions[3].key: Invalid value: "a b"`,
    `${term}.matchExpressions[3].values[0]: Invalid value: "c d"`,
    `${term}.matchFields[0].key: Invalid value: "spec.x": not a valid field selector key`,
    'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be',
  ],
  [
    'an affinity to no node',
    spec({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
      },
    }),
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value',
  ],
  [
    'a readiness gate',
    spec({ readinessGates: [{ conditionType: 'a b' }] }),
    'spec.readinessGates[0].conditionType: Invalid value: "a b": name part must consist of',
  ],
  [
    'ephemeral containers',
    spec({ ephemeralContainers: [{ name: 'e', image: 'x' }] }),
    'spec.ephemeralContainers: Forbidden: cannot be set on create',
  ],
  ['no containers', spec({ containers: [] }), 'spec.containers: Required value'],
  ['container without a name', container({ name: '' }), `${c0}.name: Required value`],
  [
    'container name',
    container({ name: 'a_b' }),
    `${c0}.name: Invalid value: "a_b": a lowercase RFC 1123 label`,
  ],
  [
    'two containers of one name',
    spec({
      containers: [
        { name: 'a', image: 'x' },
        { name: 'a', image: 'y' },
      ],
    }),
    'spec.containers[1].name: Duplicate value: "a"',
  ],
  ['no image', container({ image: '' }), `${c0}.image: Required value`],
  [
    'image with a blank',
    container({ image: ' nginx' }),
    `${c0}.image: Invalid value: " nginx": must not have`,
  ],
  ['port', container({ ports: [{ containerPort: 65535 }] })],
  [
    'no port number',
    container({ ports: [{ containerPort: 0 }] }),
    `${c0}.ports[0].containerPort: Required value`,
  ],
  [
    'port out of range',
    container({ ports: [{ containerPort: 65536, hostPort: -1 }] }),
    `${c0}.ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
    `${c0}.ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive`,
  ],
  [
    'port name twice',
    container({
      ports: [
        { name: 'http', containerPort: 80 },
        { name: 'http', containerPort: 81 },
      ],
    }),
    `${c0}.ports[1].name: Duplicate value: "http"`,
  ],
  [
    'port name',
    container({ ports: [{ name: 'UPPER', containerPort: 80 }] }),
    `${c0}.ports[0].name: Invalid value: "UPPER": must contain only`,
    `${c0}.ports[0].name: Invalid value: "UPPER": must contain at least one letter`,
  ],
  ['host address', container({ ports: [{ containerPort: 80, hostPort: 80, hostIP: '127.0.0.1' }] })],
  [
    'bad host address',
    container({ ports: [{ containerPort: 80, hostIP: '127.0.0' }] }),
    `${c0}.ports[0].hostIP: Invalid value: "127.0.0": must be a valid IP address`,
  ],
  [
    'same host port with another protocol',
    container({
      ports: [
        { containerPort: 53, hostPort: 53 },
        { containerPort: 54, hostPort: 53, protocol: 'UDP' },
      ],
    }),
  ],
  [
    'same host port twice',
    spec({
      containers: [
        { name: 'a', image: 'x', ports: [{ containerPort: 80, hostPort: 8080 }] },
        { name: 'b', image: 'x', ports: [{ containerPort: 80, hostPort: 8080 }] },
      ],
    }),
    'spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//8080"',
  ],
  [
    "host network's ports",
    { spec: { hostNetwork: true, containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80 }] }] } },
  ],
  [
    "host network's port under another number",
    {
      spec: {
        hostNetwork: true,
        containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80, hostPort: 81 }] }],
      },
    },
    `${c0}.ports[0].containerPort: Invalid value: 80: must match \`hostPort\` when \`hostNetwork\` is true`,
  ],
  ['environment', container({ env: [{ name: 'my.var-1', value: 'x' }] })],
  ['environment without a name', container({ env: [{ name: '' }] }), `${c0}.env[0].name: Required value`],
  [
    'environment name',
    container({ env: [{ name: 'a=b' }] }),
    `${c0}.env[0].name: Invalid value: "a=b": a valid environment variable name`,
  ],
  [
    'value from a field',
    container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] }),
  ],
  [
    'value from a label',
    container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } }] }),
  ],
  [
    'value from an unknown field',
    container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
    `${c0}.env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "spec.x": supported values: "metadata.name", `,
  ],
  [
    'value from resources',
    container({
      env: [
        { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
        { name: 'B', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } } },
        { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } },
        { name: 'D', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } },
        { name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } },
        { name: 'F', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1m' } } },
      ],
    }),
    `${c0}.env[3].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", `,
    `${c0}.env[4].valueFrom.resourceFieldRef.divisor: Invalid value: "2": only the divisors 1m, 1 are supported`,
    `${c0}.env[5].valueFrom.resourceFieldRef.divisor: Invalid value: "1m": only the divisors 1, 1k, `,
  ],
  [
    'value and its source',
    container({ env: [{ name: 'A', value: 'x', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
    `${c0}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
  ],
  [
    'two sources',
    container({
      env: [
        {
          name: 'A',
          valueFrom: { secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 'c', key: 'k' } },
        },
      ],
    }),
    `${c0}.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time`,
  ],
  [
    'no source',
    container({ env: [{ name: 'A', valueFrom: {} }] }),
    `${c0}.env[0].valueFrom: Invalid value: "": must specify one of`,
  ],
  [
    'key of a source',
    container({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: '', key: 'a b' } } }] }),
    `${c0}.env[0].valueFrom.configMapKeyRef.name: Required value`,
    `${c0}.env[0].valueFrom.configMapKeyRef.key: Invalid value: "a b": a valid config key`,
  ],
  ['all keys of a ConfigMap', container({ envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }] })],
  [
    'all keys of nothing',
    container({ envFrom: [{}] }),
    `${c0}.envFrom[0]: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
  ],
  [
    'all keys of two',
    container({ envFrom: [{ configMapRef: { name: 'c' }, secretRef: { name: '' } }] }),
    `${c0}.envFrom[0].secretRef.name: Required value`,
    `${c0}.envFrom[0]: Invalid value: "": may not have more than one field specified at a time`,
  ],
  ['amounts', container({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } })],
  [
    'request above the limit',
    container({ resources: { limits: { cpu: '500m' }, requests: { cpu: 1 } } }),
    `${c0}.resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 500m`,
  ],
  [
    'negative amount',
    container({ resources: { requests: { memory: '-1' } } }),
    `${c0}.resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`,
  ],
  [
    'unknown resource',
    container({ resources: { requests: { gpu: '1' } } }),
    `${c0}.resources.requests: Invalid value: "gpu": must be a standard resource for containers`,
  ],
  ['device', container({ resources: { limits: { 'nvidia.com/gpu': '2' } } })],
  [
    'half a device, over-committed',
    container({ resources: { limits: { 'nvidia.com/gpu': '2' }, requests: { 'nvidia.com/gpu': '500m' } } }),
    `${c0}.resources.requests[nvidia.com/gpu]: Invalid value: "500m": must be an integer`,
    `${c0}.resources.requests: Invalid value: "500m": must be equal to nvidia.com/gpu limit of 2`,
  ],
  [
    'device and huge pages without limits',
    container({
      resources: { requests: { 'nvidia.com/gpu': '1', 'hugepages-2Mi': '2Mi' }, limits: { cpu: '1' } },
    }),
    `${c0}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
    `${c0}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
  ],
  [
    'fewer huge pages than the limit',
    container({
      resources: { requests: { 'hugepages-2Mi': '2Mi', cpu: '1' }, limits: { 'hugepages-2Mi': '4Mi' } },
    }),
    `${c0}.resources.requests: Invalid value: "2Mi": must be equal to hugepages-2Mi limit of 4Mi`,
  ],
  ['user', container({ securityContext: { runAsUser: 0, runAsGroup: 1000 } })],
  [
    'negative user',
    container({ securityContext: { runAsUser: -1 } }),
    `${c0}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
  ],
  [
    'mounted volume',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({ volumeMounts: [{ name: 'v', mountPath: 'data' }] }).spec,
      },
    },
  ],
  [
    'mount of no volume',
    container({ volumeMounts: [{ name: 'v', mountPath: '/d' }] }),
    `${c0}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'mount without a name and path',
    container({ volumeMounts: [{ name: '', mountPath: '' }] }),
    `${c0}.volumeMounts[0].name: Required value`,
    `${c0}.volumeMounts[0].mountPath: Required value`,
  ],
  [
    'two mounts at one path',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/d' },
            { name: 'v', mountPath: '/d' },
          ],
        }).spec,
      },
    },
    `${c0}.volumeMounts[1].mountPath: Invalid value: "/d": must be unique`,
  ],
  [
    'mount of a part outside',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/a', subPath: 'x/../..' },
            { name: 'v', mountPath: '/b', subPath: '/x' },
          ],
        }).spec,
      },
    },
    `${c0}.volumeMounts[0].subPath: Invalid value: "x/../..": must not contain '..'`,
    `${c0}.volumeMounts[1].subPath: Invalid value: "/x": must be a relative path`,
  ],
  [
    'mount of a part that a variable names',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/a', subPathExpr: '$(A)/b' },
            { name: 'v', mountPath: '/b', subPathExpr: '../$(A)' },
            { name: 'v', mountPath: '/c', subPathExpr: '/$(A)' },
            { name: 'v', mountPath: '/d', subPathExpr: '$(A)', subPath: 'd' },
          ],
        }).spec,
      },
    },
    `${c0}.volumeMounts[1].subPathExpr: Invalid value: "../$(A)": must not contain '..'`,
    `${c0}.volumeMounts[2].subPathExpr: Invalid value: "/$(A)": must be a relative path`,
    `${c0}.volumeMounts[3].subPathExpr: Invalid value: "$(A)": subPathExpr and subPath are mutually exclusive`,
  ],
  ['volume of a kind that only Kubernetes mounts', spec({ volumes: [{ name: 'v', nfs: { server: 's' } }] })],
  [
    'volume with two sources',
    spec({ volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/d' } }] }),
    'spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
  ],
  [
    'volume names',
    spec({ volumes: [{ name: '' }, { name: 'A' }, { name: 'b' }, { name: 'b' }] }),
    'spec.volumes[0].name: Required value',
    'spec.volumes[1].name: Invalid value: "A": a lowercase RFC 1123 label',
    'spec.volumes[3].name: Duplicate value: "b"',
  ],
  ['host path', spec({ volumes: [{ name: 'v', hostPath: { path: '/d', type: 'Directory' } }] })],
  [
    'host paths',
    spec({
      volumes: [
        { name: 'a', hostPath: { path: '' } },
        { name: 'b', hostPath: { path: '/a/../b', type: 'Folder' } },
      ],
    }),
    'spec.volumes[1].hostPath.type: Unsupported value: "Folder": supported values: "", "BlockDevice"',
    'spec.volumes[0].hostPath.path: Required value',
    'spec.volumes[1].hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
  ],
  [
    'size of an empty directory',
    spec({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '-1Gi' } }] }),
    'spec.volumes[0].emptyDir.sizeLimit: Invalid value: "-1Gi": must be greater than or equal to 0',
  ],
  [
    'tolerations',
    spec({
      tolerations: [
        { operator: 'Exists' },
        { key: 'a/b', value: 'c', effect: 'NoExecute', tolerationSeconds: 5 },
      ],
    }),
  ],
  [
    'toleration without a key',
    spec({ tolerations: [{ value: 'x' }] }),
    'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty',
  ],
  [
    'toleration for a while of another effect',
    spec({ tolerations: [{ key: 'k', effect: 'NoSchedule', tolerationSeconds: 5 }] }),
    'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\'',
  ],
  [
    'toleration of any value with a value',
    spec({ tolerations: [{ key: 'k', operator: 'Exists', value: 'x' }] }),
    'spec.tolerations[0].operator: Invalid value: {"key":"k","operator":"Exists","value":"x"}: value must be empty',
  ],
  [
    'toleration key and value',
    spec({ tolerations: [{ key: 'a b', value: 'c d' }] }),
    'spec.tolerations[0].key: Invalid value: "a b": name part',
    'spec.tolerations[0].operator: Invalid value: "c d": a valid label',
  ],
  [
    'names of other things',
    spec({ hostname: 'a.b', nodeName: 'N', serviceAccountName: 'S', nodeSelector: { a: 'b c' } }),
    'spec.hostname: Invalid value: "a.b": a lowercase RFC 1123 label',
    'spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain',
    'spec.serviceAccountName: Invalid value: "S": a lowercase RFC 1123 subdomain',
    'spec.nodeSelector: Invalid value: "b c": a valid label',
  ],
  [
    'subdomain',
    spec({ subdomain: 'a.b' }),
    'spec.subdomain: Invalid value: "a.b": a lowercase RFC 1123 label',
  ],
  [
    'name servers and searches',
    spec({
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['192.0.2.53', '2001:db8::53'],
        searches: ['a.example.', '.'],
        options: [{ name: 'ndots', value: '2' }],
      },
    }),
  ],
  [
    'no name server',
    spec({ dnsPolicy: 'None', dnsConfig: { options: [{ value: '2' }] } }),
    'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
    'spec.dnsConfig.options[0]: Required value: must not be empty',
  ],
  [
    'too many name servers, one of which is none',
    spec({ dnsConfig: { nameservers: ['192.0.2.1', '192.0.2.2', '192.0.2.3', 'x'] } }),
    'spec.dnsConfig.nameservers: Invalid value: ["192.0.2.1","192.0.2.2","192.0.2.3","x"]: must not have more than 3 nameservers',
    'spec.dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address',
  ],
  [
    'a search that is no name',
    spec({ dnsConfig: { searches: ['a_b'] } }),
    'spec.dnsConfig.searches[0]: Invalid value: "a_b": a lowercase RFC 1123 subdomain',
  ],
  [
    'grace period',
    spec({ terminationGracePeriodSeconds: -1 }),
    'spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0',
  ],
]);

const forbidden = 'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,';

testUpdate(podResource, { ...pod, spec: { ...pod.spec, tolerations: [{ key: 'a', operator: 'Exists' }] } }, [
  ['image', container({ image: 'nginx:1.28', imagePullPolicy: 'IfNotPresent' })],
  ['image removed', container({ image: '', imagePullPolicy: 'IfNotPresent' }), `${c0}.image: Required value`],
  ['labels', { metadata: { labels: { a: 'b' } } }],
  [
    'a toleration more',
    spec({
      tolerations: [
        { key: 'b', operator: 'Exists' },
        { key: 'a', operator: 'Exists' },
      ],
    }),
  ],
  [
    'a toleration less',
    spec({ tolerations: [] }),
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ],
  ['command', container({ command: ['sh'] }), forbidden],
  ['node', spec({ nodeName: 'n2' }), forbidden],
  ['a field that is kept only', spec({ priorityClassName: 'high' }), forbidden],
  [
    'a container more',
    spec({
      containers: [
        { name: 'web', image: 'nginx:1.27' },
        { name: 'b', image: 'x' },
      ],
    }),
    'spec.containers: Forbidden: pod updates may not add or remove containers',
  ],
  [
    'a gate more',
    spec({ schedulingGates: [{ name: 'a' }] }),
    "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
  ],
  ['a deadline', spec({ activeDeadlineSeconds: 10 })],
  [
    'a negative deadline',
    spec({ activeDeadlineSeconds: -1 }),
    'spec.activeDeadlineSeconds: Invalid value: -1: must be',
  ],
]);

testUpdate(podResource, { ...pod, spec: { ...pod.spec, schedulingGates: [{ name: 'a' }, { name: 'b' }] } }, [
  ['a gate less', spec({ schedulingGates: [{ name: 'b' }] })],
  ['no gates any more', spec({ schedulingGates: undefined })],
]);

testUpdate(podResource, { ...pod, spec: { ...pod.spec, activeDeadlineSeconds: 10 } }, [
  ['a shorter deadline', spec({ activeDeadlineSeconds: 5 })],
  [
    'a longer deadline',
    spec({ activeDeadlineSeconds: 11 }),
    'spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value',
  ],
  [
    'no deadline any more',
    spec({ activeDeadlineSeconds: null }),
    'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
  ],
]);
