/**
 * Cases that kubectl-parity.test.ts runs with both tools: sequences of manifests, and command lines that
 * read.
 */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';

export const container = (name: string, more: object = {}) => ({ name, image: `${name}:1`, ...more });

export function deployment(
  spec: object = {},
  containers: object[] = [container('c')],
  labels: object = {},
): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels: { app: 'web', ...labels } },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers, ...spec } },
    },
  };
}

export const configMap = (data: object, metadata: object = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', ...metadata },
  data,
});

export const service = (ports: object[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { clusterIP: 'None', selector: { app: 'web' }, ports },
});

interface Sequence {
  readonly what: string;
  readonly resource: string;
  /** Manifests, applied one after the other. */
  readonly manifests: readonly JsonObject[];
  /** Change by another client between the first and the second manifest. */
  readonly meanwhile?: string;
}

export const sequences: Sequence[] = [
  {
    what: 'a container replaced, an injected one kept',
    resource: 'deployments/web',
    manifests: [
      deployment({}, [container('a'), container('b')]),
      deployment({}, [container('a', { image: 'a:2' }), container('c')]),
    ],
    meanwhile: '{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"x:1"}]}}}}',
  },
  {
    what: 'variables and ports are added and removed',
    resource: 'deployments/web',
    manifests: [
      deployment({}, [
        container('c', {
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
          ports: [{ containerPort: 80 }],
        }),
      ]),
      deployment({}, [
        container('c', {
          env: [
            { name: 'C', value: '<&>' },
            { name: 'A', value: '3' },
          ],
          ports: [{ containerPort: 81 }],
        }),
      ]),
    ],
    meanwhile:
      '{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"X","value":"x"}]}]}}}}',
  },
  {
    what: 'replicas left to another controller',
    resource: 'deployments/web',
    manifests: [
      deployment({}, [container('c')], { a: '1', b: '2' }),
      deployment({}, [container('c')], { b: '3' }),
    ],
    meanwhile: '{"spec":{"replicas":7},"metadata":{"labels":{"theirs":"1"},"annotations":{"note":"kept"}}}',
  },
  {
    what: 'a volume of another kind',
    resource: 'deployments/web',
    manifests: [
      deployment({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] }),
      deployment({ volumes: [{ name: 'v', configMap: { name: 'settings' } }] }),
      deployment({}),
    ],
  },
  {
    what: 'another strategy',
    resource: 'deployments/web',
    manifests: [
      {
        ...deployment(),
        spec: { ...(deployment().spec as object), strategy: { rollingUpdate: { maxSurge: 2 } } },
      },
      { ...deployment(), spec: { ...(deployment().spec as object), strategy: { type: 'Recreate' } } },
      deployment(),
    ],
  },
  {
    what: 'data removed, and the labels as a whole',
    resource: 'configmaps/settings',
    manifests: [
      configMap({ a: '1', b: '2' }, { labels: { x: '1' }, annotations: { y: '1' } }),
      configMap({ b: '3' }, { annotations: {} }),
    ],
    meanwhile: '{"data":{"theirs":"1"},"metadata":{"annotations":{"other":"kept"}}}',
  },
  {
    what: 'finalizers',
    resource: 'configmaps/settings',
    manifests: [
      configMap({}, { finalizers: ['example.com/a', 'example.com/b'] }),
      configMap({}, { finalizers: ['example.com/c'] }),
      configMap({}, {}),
    ],
    meanwhile: '{"metadata":{"finalizers":["example.com/theirs"]}}',
  },
  {
    what: 'ports of a service',
    resource: 'services/web',
    manifests: [
      service([
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ]),
      service([
        { name: 'c', port: 82 },
        { name: 'a', port: 80, targetPort: 8080 },
      ]),
    ],
  },
];

export const reads: string[][] = [
  ['get', 'namespaces'],
  ['get', 'ns', '-o', 'wide'],
  ['get', 'services', '-A'],
  ['get', 'pods'],
  ['get', 'pods', '-A'],
  ['get', 'deploy,svc'],
  ['get', 'deploy', '-o', 'wide', '--show-labels'],
  ['get', 'deploy', '-L', 'app'],
  ['get', 'all'],
  ['get', 'all', '-n', 'kube-public'],
  ['get', 'deployment.apps/web', 'service/web'],
  ['get', 'cm', 'settings', 'nosuch'],
  ['get', 'cm', 'settings', '-o', 'yaml'],
  ['get', 'cm', '-o', 'json'],
  ['get', 'svc', '-o', 'name'],
  ['get', 'svc', '-o', 'name', '-l', 'no=match'],
  ['get', 'ns', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}'],
  ['get', 'svc', '-o', 'custom-columns=NAME:.metadata.name,PORTS:.spec.ports[*].port,X:.spec.none'],
  ['get', 'ns', '--no-headers', '--field-selector', 'metadata.name=default'],
  ['get', 'ns', '--sort-by', '.metadata.name'],
  ['get', 'ns', '--sort-by', 'metadata.name', '--no-headers'],
  ['get', 'cm,ns', '--sort-by', '.metadata.name', '-o', 'name'],
  ['get', 'cm', '-A', '--sort-by', '.metadata.labels.nosuch', '-o', 'name'],
  ['get', 'deploy/web', 'svc/nosuch'],
  ['get', 'deploy,cm', 'web'],
  ['get', 'deploy', '--label-columns='],
  ['get', 'deploy', '-L', 'app', '-L', 'nosuch', '--show-kind'],
  [
    'get',
    'deploy',
    '-o',
    'custom-columns=NAME:metadata.name,LABELS:.metadata.labels,ALL:.spec.template.spec',
  ],
  ['get', 'deploy', 'web', '-o', 'custom-columns=:.metadata.name,B:{.spec.replicas},NONE:', '--no-headers'],
  ['get', 'cm,deploy', '-o', 'custom-columns=KIND:.kind,NAME:.metadata.name'],
  ['get', 'ns', '--chunk-size=1', '-o', 'name'],
  ['get', 'ns', '--chunk-size=2', '--sort-by=.metadata.name'],
  ['get', 'deploy', 'web', '--subresource=status'],
  ['get', 'deploy', 'web', '--subresource=scale', '-o', 'jsonpath={.spec.replicas}'],
  ['get', 'deploy', 'web', '--subresource=nosuch'],
  ['get', 'deploy', '--server-print=false'],
  ['get', 'deploy.v9.apps', '-o', 'name'],
  ['get', 'cm.v2.', '-o', 'name'],
  ['get', 'cm', '-o', 'jsonpath={range .items[*]}{.metadata.name}'],
  ['get', 'cm', '-o', "jsonpath={.items[*]['metadata.name', 'kind']}"],
  ['get', 'cm', 'settings', '-o', 'jsonpath={range .data}{.a}{"\\n"}{end}'],
  ['rollout', 'history', 'deploy/web', '--revision=99'],
  ['patch', 'cm', 'settings', '-p', '{"data":{"a":"9"}}', '--dry-run=client'],
  ['patch', 'cm', 'settings', '-p', '{"data":{"a":"9"}}', '--dry-run=server'],
  ['run', 'x', '--image=a:1', '--dry-run=client'],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--', 'sleep', '5'],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--command', '--', 'sleep', '5'],
  ['run', 'x', 'y', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--restart=Never', '--privileged'],
  [
    'run',
    'x',
    '--image=a:1',
    '--dry-run=client',
    '-o',
    'yaml',
    '-l',
    'a=b,c=d',
    '--env=A=1',
    '--env',
    'B=x=y',
  ],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--port=80', '--annotations=k=v'],
  ['run', 'x', '--image=a:1', '--dry-run=client', '-o', 'yaml', '-it', '--attach=false'],
  ['run', 'x', '--image=a:1', '--dry-run=server', '-o', 'name', '--image-pull-policy=Never'],
  ['explain', 'pods'],
  ['explain', 'pods.spec'],
  ['explain', 'pod.spec.containers'],
  ['explain', 'deploy.spec.replicas'],
  ['explain', 'cm.data'],
  ['explain', 'deployments.spec.template.spec.containers.ports.protocol'],
  ['explain', 'deployments.spec.template.metadata.labels'],
  ['explain', 'nodes', '--recursive'],
  ['explain', 'csr.spec', '--api-version=certificates.k8s.io/v1'],
  ['explain', 'dns'],
  ['explain', 'dns.spec.paths.path'],
  ['explain', 'dns.status.conditions', '--recursive'],
  ['get', 'pod', 'nosuch'],
  ['get', 'pod', 'nosuch', '--ignore-not-found'],
  ['get', 'pod', 'nosuch', '-o', 'json'],
  ['get', '--raw', '/api/v1/namespaces/default'],
  ['scale', 'deploy', 'web', '--replicas=4'],
  ['autoscale', 'deploy', 'web', '--min=2', '--max=5', '--cpu-percent=60', '--dry-run=server'],
  ['autoscale', 'deploy/web', '--max=5', '--name=other', '--dry-run=client'],
  [
    'autoscale',
    'deploy',
    'web',
    '--max=5',
    '--cpu-percent=60',
    '--dry-run=server',
    '-o',
    'jsonpath={.spec.targetCPUUtilizationPercentage}',
  ],
  ['autoscale', 'deploy', 'nosuch', '--max=5'],
  ['label', 'cm', 'settings', 'p=q', '--dry-run=server'],
  ['label', 'cm', 'settings', 'absent=1', '--dry-run=client'],
  ['annotate', 'cm', 'settings', 'p=q', '--overwrite'],
  ['patch', 'cm', 'settings', '-p', '{"data":{"a":"<b>"}}'],
  ['api-versions'],
  ['api-resources', '-o', 'wide'],
  ['api-resources', '--namespaced=false', '-o', 'name'],
  ['config', 'current-context'],
  ['config', 'get-contexts'],
  ['config', 'view', '--minify'],
  ['wait', '--for=jsonpath={.metadata.name}=settings', 'cm/settings'],
  ['wait', '--for=jsonpath={.metadata.name}=other', 'cm/settings', '--timeout=0'],
  ['wait', '--for=jsonpath={.data}', 'cm', 'settings', '-o', 'name'],
  ['wait', '--for=jsonpath={.nothing}', 'cm', 'settings', '--timeout=0'],
  ['wait', '--for=jsonpath={.metadata}=x', 'cm', 'settings', '--timeout=0'],
  ['wait', '--for=condition=Available', 'deploy', 'web', '--timeout=1s'],
  ['wait', '--for=condition=Ready', 'cm/nosuch', '--timeout=0'],
  ['wait', '--for=condition=Ready', 'cm/settings', '--timeout=0'],
  ['wait', '--for=create', 'cm/nosuch', '--timeout=0'],
  ['wait', '--for=create', 'cm/settings'],
  ['wait', '--for=create', 'cm/nosuch', '--timeout=1s'],
  ['wait', '--for=delete', 'cm/nosuch'],
  ['wait', '--for=delete', 'cm', '-l', 'app=web', '--timeout=1s'],
  ['wait', '--for=delete', 'cm/settings', '--timeout=0'],
  ['wait', '--for=condition=Ready', 'pods', '--all'],
  ['wait', '--for=delete', 'pods', '--all'],
  ['delete', 'cm', 'nosuch', '--ignore-not-found'],
  ['delete', 'cm', 'nosuch'],
];
