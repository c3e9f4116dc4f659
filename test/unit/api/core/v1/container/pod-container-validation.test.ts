import { podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { testCreate } from '../../../../../fixtures/kinds.ts';
import { c0, container, pod, spec } from '../../../pod-fixture.ts';

testCreate(podResource, pod, [
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
    'a port without a number',
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
    'an invalid host address',
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
    'ports of the host network',
    { spec: { hostNetwork: true, containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80 }] }] } },
  ],
  [
    'a container port on the host network that differs from its host port',
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
    'a resize policy for each resource',
    container({
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'memory', restartPolicy: 'RestartContainer' },
      ],
    }),
  ],
  [
    'repeated, unknown and invalid resize policies',
    container({
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'pods', restartPolicy: 'Sometimes' },
        { resourceName: '', restartPolicy: '' },
      ],
    }),
    `${c0}.resizePolicy[1]: Duplicate value: "cpu"`,
    `${c0}.resizePolicy: Unsupported value: "pods": supported values: "cpu", "memory"`,
    `${c0}.resizePolicy: Unsupported value: "Sometimes": supported values: "NotRequired", "RestartContainer"`,
    `${c0}.resizePolicy: Required value`,
    `${c0}.resizePolicy: Required value`,
  ],
  [
    'a restart on resize in a pod that never restarts containers',
    {
      spec: {
        ...container({ resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] }).spec,
        restartPolicy: 'Never',
      },
    },
    `${c0}.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when \`restartPolicy\` is 'Never'`,
  ],
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
    'a variable with a value and a source',
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
    'every field of a pod that a variable may show',
    container({
      env: [
        'metadata.name',
        'metadata.namespace',
        'metadata.uid',
        'spec.nodeName',
        'spec.serviceAccountName',
        'status.hostIP',
        'status.hostIPs',
        'status.podIP',
        'status.podIPs',
      ].map((fieldPath, index) => ({ name: `A${index}`, valueFrom: { fieldRef: { fieldPath } } })),
    }),
  ],
  [
    'an invalid key of a Secret',
    container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: '', key: 'a b' } } }] }),
    `${c0}.env[0].valueFrom.secretKeyRef.name: Required value`,
    `${c0}.env[0].valueFrom.secretKeyRef.key: Invalid value: "a b"`,
  ],
  [
    'a source without a name and with an invalid key',
    container({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: '', key: 'a b' } } }] }),
    `${c0}.env[0].valueFrom.configMapKeyRef.name: Required value`,
    `${c0}.env[0].valueFrom.configMapKeyRef.key: Invalid value: "a b": a valid config key`,
  ],
  ['all keys of a ConfigMap', container({ envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }] })],
  [
    'all keys without a source',
    container({ envFrom: [{}] }),
    `${c0}.envFrom[0]: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
  ],
  [
    'all keys of two sources',
    container({ envFrom: [{ configMapRef: { name: 'c' }, secretRef: { name: '' } }] }),
    `${c0}.envFrom[0].secretRef.name: Required value`,
    `${c0}.envFrom[0]: Invalid value: "": may not have more than one field specified at a time`,
  ],
  [
    'valid limits and requests',
    container({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } }),
  ],
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
    `${c0}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
  ],
  ['device', container({ resources: { limits: { 'nvidia.com/gpu': '2' } } })],
  [
    'a fraction of a device, with another limit',
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
]);
