/** Discovery: the kinds, their verbs and subresources, and the format of the answer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { selfSubjectAccessReviewResource } from '../../../../src/api/authorization/v1/self-subject-access-review.ts';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { KindSet } from '../../../../src/apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { createDiscovery } from '../../../../src/apiserver/discovery/discovery.ts';
import { registry } from '../../../../src/features/kinds.ts';
import { kubeBehavior } from '../../../fixtures/kind-behavior.ts';

const ask = (path: string, accept = '', definitions: readonly ResourceDefinition[] = registry, etag = '') =>
  createDiscovery(
    new KindSet(definitions),
    kubeBehavior,
    undefined,
  )(new Request(`https://m.example:6443${path}`, { headers: { accept, 'if-none-match': etag } }));
const aggregated = (version: string) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

interface Kind {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
}
interface Entry {
  readonly resource: string;
  readonly responseKind: Kind;
  readonly verbs: readonly string[];
  readonly subresources?: readonly { subresource: string; responseKind: Kind; verbs: string[] }[];
}
interface Aggregated {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly {
    readonly metadata: object;
    readonly versions: readonly { version: string; freshness: string; resources: readonly Entry[] }[];
  }[];
}
const json = async <T>(response: Response | undefined) => {
  assert.equal(response?.status, 200);
  return (await response.json()) as T;
};

const proxied = 'create,delete,get,patch,update';
const changing = 'get,patch,update';
/** Subresources that every kind has which declares them. */
const common = registry.flatMap(({ group, version, plural, kind, hasStatus, scale }) => [
  ...(hasStatus ? [`${group ? `${group}/` : ''}${version} ${plural}/status ${kind} ${changing}`] : []),
  ...(scale ? [`autoscaling/v1 ${plural}/scale Scale ${changing}`] : []),
]);
/** All subresources, each with the kind of its body. */
const expected = [
  ...common,
  'certificates.k8s.io/v1 certificatesigningrequests/approval CertificateSigningRequest get,patch,update',
  'v1 namespaces/finalize Namespace update',
  `v1 nodes/proxy NodeProxyOptions ${proxied}`,
  'v1 pods/attach PodAttachOptions create,get',
  'v1 pods/binding Binding create',
  'v1 pods/ephemeralcontainers Pod get,patch,update',
  'policy/v1 pods/eviction Eviction create',
  'v1 pods/exec PodExecOptions create,get',
  'v1 pods/log Pod get',
  'v1 pods/portforward PodPortForwardOptions create,get',
  `v1 pods/proxy PodProxyOptions ${proxied}`,
  'v1 pods/resize Pod get,patch,update',
  'authentication.k8s.io/v1 serviceaccounts/token TokenRequest create',
  `v1 services/proxy ServiceProxyOptions ${proxied}`,
];
const shown = ({ group, version, kind }: Kind, name: string, verbs: readonly string[]) =>
  `${group ? `${group}/` : ''}${version} ${name} ${kind} ${verbs.join()}`;

test('some kinds have a status, and some a scale', () => {
  for (const one of [
    'v1 pods/status Pod',
    'apps/v1 deployments/status Deployment',
    'autoscaling/v1 replicasets/scale Scale',
  ])
    assert.ok(common.includes(`${one} ${changing}`), one);
  assert.ok(!common.some((one) => one.includes(' configmaps/')));
});

describe('every subresource is listed', () => {
  test('in one document', async () => {
    const documents = ['/api', '/apis'].map((path) => json<Aggregated>(ask(path, aggregated('v2'))));
    const entries = (await Promise.all(documents)).flatMap(({ items }) =>
      items.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources)),
    );
    const found = entries.flatMap(({ resource, subresources = [] }) =>
      subresources.map((one) => shown(one.responseKind, `${resource}/${one.subresource}`, one.verbs)),
    );
    assert.deepEqual(found.sort(), [...expected].sort());
    const names = entries.find(({ resource }) => resource === 'pods')?.subresources ?? [];
    assert.deepEqual(
      names.map((one) => one.subresource),
      names.map((one) => one.subresource).sort(),
    );
  });

  test('in one document for each version', async () => {
    const versions = [
      ...new Set(registry.map(({ group, version }) => (group ? `/apis/${group}/${version}` : '/api/v1'))),
    ];
    const lists = await Promise.all(
      versions.map((path) =>
        json<{
          groupVersion: string;
          resources: (Kind & { name: string; verbs: string[]; singularName: string })[];
        }>(ask(path)),
      ),
    );
    const found = lists.flatMap(({ groupVersion, resources }) =>
      resources
        .filter(({ name }) => name.includes('/'))
        .map(({ name, verbs, singularName, ...kind }) => {
          assert.equal(singularName, '');
          return kind.version === undefined
            ? `${groupVersion} ${name} ${kind.kind} ${verbs}`
            : shown(kind, name, verbs);
        }),
    );
    assert.deepEqual(found.sort(), [...expected].sort());
  });
});

describe('the documents of the kinds', () => {
  const some = [
    selfSubjectAccessReviewResource,
    podResource,
    namespaceResource,
  ] as unknown as ResourceDefinition[];
  const stored = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

  test('include one document with all kinds', async () => {
    const { items, ...head } = await json<Aggregated>(ask('/api', aggregated('v2beta1'), some));
    assert.deepEqual(head, {
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2beta1',
      metadata: {},
    });
    const [{ metadata, versions: [core] = [] } = { metadata: {} }] = items;
    assert.deepEqual(metadata, { name: '', creationTimestamp: null });
    assert.deepEqual([items.length, core?.version, core?.freshness], [1, 'v1', 'Current']);
    const [namespaces, pods] = core?.resources ?? [];
    const { subresources: _, ...rest } = namespaces as Entry;
    assert.deepEqual(rest, {
      ...{ resource: 'namespaces', responseKind: { group: '', version: 'v1', kind: 'Namespace' } },
      ...{ scope: 'Cluster', singularResource: 'namespace', verbs: stored, shortNames: ['ns'] },
    });
    const { subresources: __, ...pod } = pods as Entry;
    assert.deepEqual(pod, {
      ...{ resource: 'pods', responseKind: { group: '', version: 'v1', kind: 'Pod' }, scope: 'Namespaced' },
      ...{ singularResource: 'pod', verbs: stored, shortNames: ['po'], categories: ['all'] },
    });
    const apis = await json<Aggregated>(ask('/apis', aggregated('v2'), some));
    assert.deepEqual(
      apis.items.map(({ versions }) => versions.flatMap(({ resources }) => resources)),
      [
        [
          {
            resource: 'selfsubjectaccessreviews',
            responseKind: { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectAccessReview' },
            ...{ scope: 'Cluster', singularResource: 'selfsubjectaccessreview', verbs: ['create'] },
          },
        ],
      ],
    );
  });

  test('list kinds sorted by name, in any order of the registry', async () => {
    const paths: [string, string][] = [
      ['/api/v1', ''],
      ['/api', aggregated('v2')],
    ];
    for (const [path, accept] of paths) {
      const answers = [registry, [...registry].reverse()].map((definitions) =>
        json(ask(path, accept, definitions)),
      );
      const [one, other] = await Promise.all(answers);
      assert.deepEqual(one, other);
    }
    assert.equal(
      (await json<Aggregated>(ask('/api', aggregated('v2')))).apiVersion,
      'apidiscovery.k8s.io/v2',
    );
    assert.deepEqual((await json<{ versions: string[] }>(ask('/api'))).versions, ['v1']);
    const group = await json<{ kind: string }>(ask('/apis/apps', aggregated('v2')));
    assert.equal(group.kind, 'APIGroup', 'only the two roots have the other form');
  });

  test('include one small document for each group, for older clients', async () => {
    const group = {
      name: 'authorization.k8s.io',
      versions: [{ groupVersion: 'authorization.k8s.io/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'authorization.k8s.io/v1', version: 'v1' },
    };
    for (const [path, document] of [
      ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: [group] }],
      ['/apis/authorization.k8s.io', { kind: 'APIGroup', apiVersion: 'v1', ...group }],
      [
        '/api',
        {
          ...{ kind: 'APIVersions', versions: ['v1'] },
          serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'm.example:6443' }],
        },
      ],
      [
        '/apis/authorization.k8s.io/v1',
        {
          ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'authorization.k8s.io/v1' },
          resources: [
            {
              ...{
                name: 'selfsubjectaccessreviews',
                singularName: 'selfsubjectaccessreview',
                namespaced: false,
              },
              ...{ kind: 'SelfSubjectAccessReview', verbs: ['create'] },
            },
          ],
        },
      ],
    ] as const) {
      assert.deepEqual(await json(ask(path, '', some)), document, path);
      assert.deepEqual(await json(ask(`${path}/`, '', some)), document, `${path}/`);
    }
    const [namespaces] = (await json<{ resources: object[] }>(ask('/api/v1', '', some))).resources;
    assert.deepEqual(namespaces, {
      ...{ name: 'namespaces', singularName: 'namespace', namespaced: false, kind: 'Namespace' },
      ...{ verbs: stored, shortNames: ['ns'] },
    });
    const pods = (await json<{ resources: { name: string }[] }>(ask('/api/v1', '', some))).resources.find(
      ({ name }) => name === 'pods',
    );
    assert.deepEqual(pods, {
      ...{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: stored },
      ...{ shortNames: ['po'], categories: ['all'] },
    });
  });

  test('are listed at the root, and an unknown path is not found', async () => {
    const { paths } = await json<{ paths: string[] }>(ask('/', '', some));
    assert.deepEqual(paths, [
      ...[
        '/',
        '/api',
        '/api/v1',
        '/apis',
        '/apis/authorization.k8s.io',
        '/apis/authorization.k8s.io/v1',
      ].slice(1),
      ...['/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'],
    ]);
    for (const path of ['/apis/apps', '/api/v2', '/apis/authorization.k8s.io/v2', '/metrics', '/apix'])
      assert.equal(ask(path, '', some), undefined, path);
  });
});

describe('the answer is', () => {
  const legacy = 'application/json';
  for (const [accept, kind, version] of [
    ['', 'APIGroupList', 'v1'],
    [legacy, 'APIGroupList', 'v1'],
    ['*/*', 'APIGroupList', 'v1'],
    [aggregated('v2'), 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
    [aggregated('v2beta1'), 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2beta1'],
    [
      `${aggregated('v2')},${aggregated('v2beta1')},${legacy}`,
      'APIGroupDiscoveryList',
      'apidiscovery.k8s.io/v2',
    ],
    [
      `${aggregated('v3')},${aggregated('v2beta1')},${legacy}`,
      'APIGroupDiscoveryList',
      'apidiscovery.k8s.io/v2beta1',
    ],
    [`${legacy},${aggregated('v2')}`, 'APIGroupList', 'v1'],
    [`text/html;as=x,${aggregated('v2')}`, 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
    [`text/html,${aggregated('v2')}`, 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
    [aggregated('v3'), 'APIGroupList', 'v1'],
    [aggregated('v2').replace('apidiscovery.k8s.io', 'x'), 'APIGroupList', 'v1'],
    [aggregated('v2').replace('APIGroupDiscoveryList', 'x'), 'APIGroupList', 'v1'],
    [aggregated('v2').replace('application/json', 'application/yaml'), 'APIGroupList', 'v1'],
  ] as const)
    test(`${kind} of ${version} for "${accept}"`, async () => {
      const response = ask('/apis', accept);
      const type = response?.headers.get('content-type');
      const found = await json<Aggregated>(response);
      assert.deepEqual([found.kind, found.apiVersion], [kind, version]);
      const ours = kind === 'APIGroupDiscoveryList';
      assert.equal(type, ours ? aggregated(version.split('/')[1] ?? '') : 'application/json');
      assert.equal(response?.headers.get('vary'), ours ? 'Accept' : null);
    });

  test('not sent again to a client that has the current document', async () => {
    const first = ask('/apis', aggregated('v2'));
    const etag = first?.headers.get('etag') ?? '';
    assert.match(etag, /^"[0-9A-F]{128}"$/);
    assert.equal(first?.headers.get('cache-control'), 'public');
    const again = ask('/apis', aggregated('v2'), registry, etag);
    assert.deepEqual([again?.status, await again?.text(), again?.headers.get('etag')], [304, '', etag]);
    assert.equal(ask('/api', aggregated('v2'), registry, etag)?.status, 200);
    assert.equal(ask('/apis', aggregated('v2beta1'), registry, etag)?.status, 200);
  });
});

test('groups are listed by their priority, and by name among equals', async () => {
  const priorities: Readonly<Record<string, number>> = { batch: 900, apps: 800 };
  const other = { groupPriority: 850, versionPriority: 1, resources: [], freshness: 'Current' } as const;
  const answer = (accept: string) =>
    createDiscovery(new KindSet(registry), kubeBehavior, undefined, [], {
      versions: [{ ...other, group: 'extension.example.com', version: 'v1' }],
      groupPriority: (group) => priorities[group] ?? 1,
    })(new Request('https://m.example/apis', { headers: { accept } }));
  const { items } = await json<{ items: { metadata: { name: string } }[] }>(answer(aggregated('v2')));
  const { groups } = await json<{ groups: { name: string }[] }>(answer(''));
  const names = items.map(({ metadata }) => metadata.name);
  assert.deepEqual(names.slice(0, 3), ['batch', 'extension.example.com', 'apps']);
  assert.deepEqual(names.slice(3), names.slice(3).toSorted());
  assert.deepEqual(
    groups.map(({ name }) => name),
    names,
  );
});

test('a given address is published in place of the requested one', async () => {
  const answer = createDiscovery(
    new KindSet(registry),
    kubeBehavior,
    '192.0.2.1:6443',
  )(new Request('https://m.example/api'));
  const { serverAddressByClientCIDRs } = await json<{ serverAddressByClientCIDRs: object[] }>(answer);
  assert.deepEqual(serverAddressByClientCIDRs, [
    { clientCIDR: '0.0.0.0/0', serverAddress: '192.0.2.1:6443' },
  ]);
});

test('an unknown or repeated kind throws an error', () => {
  const table = new KindSet(registry);
  assert.equal(table.get('apps', 'deployments').kind, 'Deployment');
  assert.equal(table.find('apps', 'v1', 'deployments')?.kind, 'Deployment');
  assert.equal(table.find('', 'v1', 'deployments'), undefined);
  assert.equal(table.find('apps', 'v2', 'deployments'), undefined);
  assert.throws(() => table.get('apps', 'pods'), /no definition for pods in group "apps"/);
  assert.throws(() => table.get('', 'deployments'), /no definition/);
  assert.throws(() => new KindSet([...registry, ...registry]), /two definitions serve/);
});
