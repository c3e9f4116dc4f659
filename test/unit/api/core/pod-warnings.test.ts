/**
 * Warnings for accepted pods, in upstream's texts: upstream's own cases of pkg/api/pod/warnings_test.go, and
 * some more.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetResource } from '../../../../src/api/apps/v1/daemon-set.ts';
import { deploymentResource } from '../../../../src/api/apps/v1/deployment.ts';
import { statefulSetResource } from '../../../../src/api/apps/v1/stateful-set.ts';
import { cronJobResource } from '../../../../src/api/batch/v1/cron-job.ts';
import { jobResource } from '../../../../src/api/batch/v1/job.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { created } from '../../../fixtures/kinds.ts';

const container = { name: 'c', image: 'i' };
const podOf = (spec: object, annotations: object = {}, name = 'web') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations },
  spec: { containers: [container], ...spec },
});
const warningsOf = (pod: object) => {
  const made = created(podResource, pod as JsonObject);
  return podResource.strategy.warnings?.(made, undefined) ?? [];
};
const c = (fields: object) => ({ containers: [{ ...container, ...fields }] });
const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] });
const items = (...paths: string[]) => paths.map((path, index) => ({ key: `k${index}`, path }));

const cases: [what: string, pod: object, ...warnings: string[]][] = [
  ['nothing', podOf({})],
  [
    'thousandths of a byte',
    podOf(c({ resources: { limits: { memory: '400m', 'ephemeral-storage': '1200m' } } })),
    'spec.containers[0].resources.limits[memory]: fractional byte value "400m" is invalid, must be an integer',
    'spec.containers[0].resources.requests[memory]: fractional byte value "400m" is invalid, must be an integer',
    'spec.containers[0].resources.limits[ephemeral-storage]: fractional byte value "1200m" is invalid, must be an integer',
    'spec.containers[0].resources.requests[ephemeral-storage]: fractional byte value "1200m" is invalid, must be an integer',
  ],
  ['whole bytes', podOf(c({ resources: { limits: { memory: '1.5Ki', cpu: '100m' } } }))],
  [
    'variables that hide earlier ones',
    podOf(
      c({
        env: [
          { name: 'a', value: 'a' },
          { name: 'a', value: 'b' },
          { name: 'b', value: 'x' },
          { name: 'b', value: '$(b)y' },
          { name: 'c', value: 'x' },
          { name: 'c', value: '$(c)' },
          { name: 'd', value: 'x' },
          { name: 'd', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
      }),
    ),
    'spec.containers[0].env[1]: hides previous definition of "a", which may be dropped when using apply',
    'spec.containers[0].env[5]: hides previous definition of "c", which may be dropped when using apply',
    'spec.containers[0].env[7]: hides previous definition of "d", which may be dropped when using apply',
  ],
  [
    'ports of two containers',
    podOf({
      containers: [
        { ...container, ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }] },
        { ...container, name: 'd', ports: [{ containerPort: 80, hostPort: 8080 }] },
        { ...container, name: 'e', ports: [{ containerPort: 80 }] },
      ],
    }),
    'spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]',
    'spec.containers[2].ports[0]: duplicate port definition with spec.containers[0].ports[0]',
    'spec.containers[2].ports[0]: overlapping port definition with spec.containers[1].ports[0]',
  ],
  [
    'a host port on all addresses and on one',
    podOf(
      c({
        ports: [
          { containerPort: 80, hostPort: 80 },
          { containerPort: 80, hostPort: 80, hostIP: '1.1.1.1' },
          { containerPort: 80, hostPort: 80, hostIP: '2.2.2.2' },
        ],
      }),
    ),
    'spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]',
    'spec.containers[0].ports[2]: dangerously ambiguous port definition with spec.containers[0].ports[0]',
  ],
  [
    'an address without a port',
    podOf(c({ ports: [{ containerPort: 80, hostIP: '1.1.1.1' }] })),
    'spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.1.1.1}',
  ],
  [
    'a negative termination grace period',
    podOf({ terminationGracePeriodSeconds: -1 }),
    'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ],
  [
    'repeated host aliases and pull secrets',
    podOf({
      hostAliases: [
        { ip: '1.1.1.1', hostnames: ['a'] },
        { ip: '1.1.1.1', hostnames: ['b'] },
      ],
      imagePullSecrets: [{ name: 'a' }, { name: 'a' }, { name: '' }],
    }),
    'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
    'spec.imagePullSecrets[1].name: duplicate name "a"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
  ],
  [
    'selectors with deprecated labels',
    podOf({ nodeSelector: { 'beta.kubernetes.io/arch': 'amd64' } }),
    'spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
  ],
  [
    'a spread constraint that selects no pod',
    podOf({
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'failure-domain.beta.kubernetes.io/zone',
          whenUnsatisfiable: 'ScheduleAnyway',
        },
      ],
    }),
    'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
  ],
  [
    'an affinity that selects no pod',
    podOf({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'x' }],
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: 'x' } },
          ],
        },
      },
    }),
    'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
    'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod',
  ],
  [
    'annotations without effect',
    podOf({}, { 'scheduler.alpha.kubernetes.io/critical-pod': '' }),
    'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    'volumes of removed drivers',
    podOf(volume({ rbd: { monitors: ['m'], image: 'i' } })),
    'spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+',
  ],
  [
    'a volume with a file at the path of a directory',
    podOf(volume({ configMap: { name: 'm', items: items('a', 'a/b', 'b', 'ab', 'b/') } })),
    'volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"',
    'volume "v" (ConfigMap "m"): overlapping paths: "b" with "b"',
  ],
  [
    'a volume with a later file at the path of an earlier directory',
    podOf(volume({ secret: { secretName: 's', items: items('a/b/c', 'x', 'a') } })),
    'volume "v" (Secret "s"): overlapping paths: "a" with "a/b/c"',
  ],
  [
    'sources of a projected volume',
    podOf(
      volume({
        projected: {
          sources: [
            { configMap: { name: 'm', items: items('data') } },
            { secret: { name: 's', items: items('data/x') } },
            { serviceAccountToken: { path: 'data' } },
          ],
        },
      }),
    ),
    'volume "v" (Projected): overlapping paths: "data/x" (Secret "s") with "data" (ConfigMap "m")',
    'volume "v" (Projected): overlapping paths: "data" (ServiceAccountToken) with "data" (ConfigMap "m")',
    'volume "v" (Projected): overlapping paths: "data" (ServiceAccountToken) with "data/x" (Secret "s")',
  ],
  [
    'the files of a certificate of the pod',
    podOf(
      volume({
        projected: {
          sources: [
            { secret: { name: 's', items: items('x') } },
            {
              podCertificate: {
                ...{ signerName: 'a.b/c', keyType: 'ED25519', keyPath: 'x/k', certificateChainPath: 'y' },
                credentialBundlePath: 'y/b',
              },
            },
          ],
        },
      }),
    ),
    'volume "v" (Projected): overlapping paths: "x/k" (PodCertificate key) with "x" (Secret "s")',
    'volume "v" (Projected): overlapping paths: "y/b" (PodCertificate credential bundle) with "y" (PodCertificate chain)',
  ],
  [
    'an ephemeral volume',
    podOf(
      volume({
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '500m' } } },
          },
        },
      }),
    ),
    'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer',
  ],
];
for (const [what, pod, ...warnings] of cases)
  test(`a pod gets the expected warnings for ${what}`, () => assert.deepEqual(warningsOf(pod), warnings));

test('a pod whose name is not a host name gets a warning', () => {
  const [said = '', ...more] = warningsOf(podOf({}, {}, 'a.b'));
  assert.ok(
    said.startsWith(
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [",
    ),
  );
  assert.deepEqual(more, []);
});

test('an update of a pod gives no warnings', () => {
  const pod = created(podResource, podOf({ terminationGracePeriodSeconds: -1 }) as JsonObject);
  assert.deepEqual(podResource.strategy.warnings?.(pod, pod), []);
});

const labels = { app: 'web' };
const template = {
  metadata: { labels },
  spec: { containers: [container], terminationGracePeriodSeconds: -1 },
};
const told = (path: string) =>
  `${path}.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`;
const metadata = { name: 'web', namespace: 'default' };
const endless = { metadata, spec: { selector: { matchLabels: labels }, template } };
const endingTemplate = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
for (const [definition, object, path] of [
  [deploymentResource, endless, 'spec.template'],
  [daemonSetResource, endless, 'spec.template'],
  [statefulSetResource, endless, 'spec.template'],
  [jobResource, { metadata, spec: { template: endingTemplate } }, 'spec.template'],
  [
    cronJobResource,
    { metadata, spec: { schedule: '* * * * *', jobTemplate: { spec: { template: endingTemplate } } } },
    'spec.jobTemplate.spec.template',
  ],
] as const)
  test(`the template of a ${definition.kind} gets warnings when it is new and when it changes`, () => {
    const { apiVersion = '', kind } = { apiVersion: `${definition.group}/v1`, kind: definition.kind };
    // biome-ignore lint/suspicious/noExplicitAny: one loop over several kinds.
    const { warnings } = definition.strategy as any;
    const made = created(definition as typeof deploymentResource, { apiVersion, kind, ...object });
    const changed = { ...made, metadata: { ...made.metadata, generation: 7 } };
    assert.deepEqual(warnings(made, undefined), [told(path)]);
    assert.deepEqual(warnings(changed, made), [told(path)]);
    assert.deepEqual(warnings(made, made), []);
  });

test('a warning reports a Job with too many indexes', () => {
  const spec = {
    completionMode: 'Indexed',
    completions: 100_001,
    parallelism: 10_001,
    template: { spec: { containers: [container], restartPolicy: 'Never' } },
  };
  const made = created(jobResource, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec });
  const [said = ''] = jobResource.strategy.warnings?.(made, undefined) ?? [];
  assert.match(said, /^spec: In Indexed Jobs with a number of completions higher than 10\^5/);
});

test('a Service gets warnings for ignored and deprecated fields', () => {
  const service = (spec: object, annotations: object = {}) => {
    const made = created(serviceResource, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, annotations },
      spec: { ports: [{ port: 80 }], ...spec },
    } as JsonObject);
    return serviceResource.strategy.warnings?.(made, undefined);
  };
  assert.deepEqual(service({}), []);
  assert.deepEqual(service({ externalName: 'a.b' }), [
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ]);
  assert.deepEqual(service({ type: 'ExternalName', externalName: 'a.b', externalIPs: ['1.2.3.4'] }), [
    'spec.externalIPs is ignored when spec.type is "ExternalName"',
  ]);
  assert.deepEqual(service({}, { 'service.kubernetes.io/topology-aware-hints': 'auto' }), [
    'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
  ]);
  assert.deepEqual(service({ externalIPs: ['2001:db8:0::1'] }), [
    'spec.externalIPs[0]: IPv6 address "2001:db8:0::1" is not in RFC 5952 canonical format ("2001:db8::1"), which may cause controller apply-loops',
  ]);
});

test('the warnings of very many conflicting files are limited', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `a/b/c/d/${index % 2 ? 'same' : index}`);
  const pod = podOf(volume({ configMap: { name: 'm', items: items(...many) } }));
  assert.equal(warningsOf(pod).length, 64);
});

test('the warnings of very many definitions of one port are limited', () => {
  const same = Array.from({ length: 7000 }, () => ({ containerPort: 80 }));
  assert.equal(warningsOf(podOf(c({ ports: same }))).length, 64);
  const apart = Array.from({ length: 7000 }, (_, index) => ({ containerPort: 80, hostPort: index + 1 }));
  assert.deepEqual(warningsOf(podOf(c({ ports: apart }))), []);
});
