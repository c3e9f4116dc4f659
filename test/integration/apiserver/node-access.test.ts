/**
 * Every request that a node could try on every kind of the server, by URL, with a node's certificate, over
 * HTTPS. For the contents of request bodies see node-restriction.test.ts and node-events.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { subresourcesOf } from '../../../src/apiserver/subresources/subresources.ts';
import { registry } from '../../../src/features/kinds.ts';
import { kubeBehavior } from '../../fixtures/kind-behavior.ts';
import { container, core, inDefault, type NodeWorld, startNodeWorld } from './node-world.ts';

let world: NodeWorld;
const ask: NodeWorld['ask'] = (...args) => world.ask(...args);
const make: NodeWorld['make'] = (...args) => world.make(...args);
before(async () => {
  world = await startNodeWorld();
});
after(() => world.stop());

/** Names of the objects of this node and of another node; kinds without a row belong to no node. */
const names: Readonly<Record<string, readonly [string, string]>> = {
  nodes: ['n1', 'n2'],
  leases: ['n1', 'n2'],
  namespaces: ['default', 'kube-system'],
};

const namespaceOf = ({ plural, namespaced }: ResourceDefinition) =>
  namespaced ? (plural === 'leases' ? 'kube-node-lease' : 'default') : '';

function collectionOf(kind: ResourceDefinition): string {
  const root = kind.group ? `/apis/${apiVersionOf(kind)}` : `/api/${kind.version}`;
  const namespace = namespaceOf(kind);
  return `${root}${namespace && `/namespaces/${namespace}`}/${kind.plural}`;
}

/** Fields without which the server rejects an object of the kind. */
const minOf: Readonly<Record<string, object>> = {
  selfsubjectaccessreviews: {
    metadata: {},
    spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
  },
  selfsubjectrulesreviews: { spec: { namespace: 'default' } },
  subjectaccessreviews: {
    metadata: {},
    spec: { user: 'u', nonResourceAttributes: { path: '/', verb: 'get' } },
  },
  localsubjectaccessreviews: {
    metadata: {},
    spec: { user: 'u', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
  },
  podcertificaterequests: {
    spec: {
      ...{ signerName: 'a.b/c', podName: 'none', podUID: 'p', serviceAccountName: 's' },
      ...{ serviceAccountUID: 's', nodeName: 'n1', nodeUID: 'n', stubPKCS10Request: 'eA==' },
    },
  },
  tokenreviews: { metadata: {}, spec: { token: 't' } },
  triggerevents: {
    spec: { trigger: 't', id: 'i', source: 's', type: 'minik8s.io/test', time: '2026-01-01T00:00:00Z' },
  },
};

/** Returns the stored object, so that a write changes nothing, or the smallest valid object. */
async function bodyOf(kind: ResourceDefinition, path: string, name: string): Promise<object> {
  const existing = await world.server.call('GET', path);
  if (existing.status === 200) return existing.json<KubeObject>();
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name }, ...minOf[kind.plural] };
}

type Attempt = readonly [title: string, method: string, path: string, body?: object];

async function attemptsOn(kind: ResourceDefinition): Promise<Attempt[]> {
  const collection = collectionOf(kind);
  const attempts: Attempt[] = [
    ['list', 'GET', collection],
    ['watch', 'GET', `${collection}?watch=true&timeoutSeconds=1`],
    ['deletecollection', 'DELETE', `${collection}?dryRun=All`],
  ];
  const targets = [
    ['own', (names[kind.plural] ?? ['own', 'other'])[0]],
    ['other', (names[kind.plural] ?? ['own', 'other'])[1]],
  ] as const;
  for (const [whose, name] of targets) {
    const path = `${collection}/${name}`;
    const body = await bodyOf(kind, path, name);
    // A review has no name and no other fields of a kind.
    const metadata = kind.isReview ? {} : withoutVersion(body);
    const only = `fieldSelector=metadata.name%3D${name}`;
    attempts.push(
      [`get ${whose}`, 'GET', path],
      [`list ${whose} by name`, 'GET', `${collection}?${only}`],
      [`watch ${whose} by name`, 'GET', `${collection}?${only}&watch=true&timeoutSeconds=1`],
      [`create ${whose}`, 'POST', `${collection}?dryRun=All`, { ...body, metadata }],
      [`update ${whose}`, 'PUT', `${path}?dryRun=All`, body],
      [`patch ${whose}`, 'PATCH', `${path}?dryRun=All`, { metadata: { annotations: { a: 'b' } } }],
      [`delete ${whose}`, 'DELETE', `${path}?dryRun=All`],
    );
    attempts.push(...subresourceAttempts(kind, path, whose, body));
  }
  return attempts;
}

function subresourceAttempts(
  kind: ResourceDefinition,
  path: string,
  whose: string,
  body: object,
): readonly Attempt[] {
  return Object.entries(subresourcesOf(kind, kubeBehavior)).flatMap(([subresource, { methods }]) =>
    Object.keys(methods).map((method): Attempt => {
      const title = `${method} ${subresource} of ${whose}`;
      if (method === 'GET') return [title, method, `${path}/${subresource}`];
      const content = subresource === 'status' && method === 'PUT' ? body : { metadata: {} };
      return [title, method, `${path}/${subresource}?dryRun=All`, content];
    }),
  );
}

function withoutVersion(body: object): object {
  const { resourceVersion: _, uid: __, ...metadata } = (body as KubeObject).metadata;
  return metadata;
}

const everyone = ['get own', 'get other', 'list own by name', 'list other by name', 'list', 'watch'];
const readAll = [...everyone, 'watch own by name', 'watch other by name'];

type Passed = Readonly<Record<string, readonly string[]>>;

const listed = ['list', 'list own by name', 'list other by name'];
/** Lists and watches, without reads of one object. */
const collections = [...listed, 'watch', 'watch own by name', 'watch other by name'];
const ownPods = ['get own', 'delete own', 'PUT status of own', 'PATCH status of own', 'POST eviction of own'];

/** Requests that are not forbidden. */
const allowed: Passed = {
  services: readAll,
  namespaces: readAll,
  endpointslices: readAll,
  dnses: readAll,
  // A 409: there is no such pod. For existing pods see node-certificates.test.ts.
  podcertificaterequests: ['create own', 'create other'],
  // Only its own entry: see features/images/server/rights.test.ts.
  images: [...readAll, 'PATCH status of own', 'PATCH status of other'],
  ingresses: readAll,
  ingressclasses: readAll,
  runtimeclasses: readAll,
  clustertrustbundles: readAll,
  nodes: [...readAll, 'create own', 'update own', 'patch own', 'PUT status of own', 'PATCH status of own'],
  networkpolicies: collections,
  servicecidrs: collections,
  customresourcedefinitions: collections,
  // Pods of other nodes are shown in part: see node-pod-addresses.test.ts.
  pods: [...ownPods, ...collections],
  secrets: ['get own', 'list own by name', 'watch own by name'],
  configmaps: ['get own', 'list own by name', 'watch own by name'],
  events: ['create own', 'update own', 'patch own'],
  leases: ['get own', 'create own', 'update own', 'patch own', 'delete own'],
  certificatesigningrequests: [
    'get own',
    'list own by name',
    'watch own by name',
    // The server writes the requesting user, so no request of the node counts as another user's.
    'create own',
  ],
  // A review of a user's own access reveals nothing new and stores nothing.
  selfsubjectaccessreviews: ['create own', 'create other'],
  selfsubjectrulesreviews: ['create own', 'create other'],
  selfsubjectreviews: ['create own', 'create other'],
  // The node's own server requests reviews of its clients' tokens and of their access.
  subjectaccessreviews: ['create own', 'create other'],
  localsubjectaccessreviews: ['create own', 'create other'],
  tokenreviews: ['create own', 'create other'],
  // Neither object exists: the 404 lets an agent recognize that an image belongs to no version. For existing
  // objects see node-functions.test.ts.
  functionversions: ['get own', 'get other'],
  // Neither object exists here either. For existing objects see
  // test/integration/features/triggers/server/file-access.test.ts.
  folderwatches: ['PATCH status of own', 'PATCH status of other'],
};

/** Requests that are not forbidden to a node whose Node object does not exist. */
const allowedWithoutNode: Passed = {
  nodes: [
    ...['get own', 'list own by name', 'watch own by name', 'create own'],
    // There is nothing to change: the 404 lets the agent recognize that its Node was removed.
    ...['update own', 'patch own', 'PUT status of own', 'PATCH status of own'],
  ],
  pods: ownPods,
  events: allowed.events ?? [],
  certificatesigningrequests: allowed.certificatesigningrequests ?? [],
  selfsubjectaccessreviews: allowed.selfsubjectaccessreviews ?? [],
  selfsubjectrulesreviews: allowed.selfsubjectrulesreviews ?? [],
  selfsubjectreviews: allowed.selfsubjectreviews ?? [],
};

/** Node agents use the older group of Events and may not use the newer group. */
const nameOf = ({ conversion, group, isMeasured, plural }: ResourceDefinition) =>
  conversion || isMeasured ? `${plural}.${group}` : plural;

async function passedOn(kind: ResourceDefinition): Promise<string[]> {
  const passed: string[] = [];
  for (const [title, method, path, body] of await attemptsOn(kind)) {
    const { status, text } = await ask(method, path, body);
    if (status === 403) continue;
    assert.ok(status < 300 || status === 404 || status === 409, `${title}: ${status} ${text}`);
    passed.push(title);
  }
  return passed.sort();
}

describe('a node', () => {
  for (const kind of registry) {
    it(`has exactly the needed access to ${nameOf(kind)}`, async () => {
      assert.deepEqual(await passedOn(kind), [...(allowed[nameOf(kind)] ?? [])].sort());
    });
  }

  const own = encodeURIComponent('spec.nodeName=n1');
  const other = encodeURIComponent('spec.nodeName=n2');
  for (const [path, status] of [
    [`${core}/pods?fieldSelector=${own}`, 200],
    [`${core}/pods?fieldSelector=${own}&watch=true&timeoutSeconds=1`, 200],
    [`${inDefault}/pods?fieldSelector=${own}%2Cstatus.phase%3DPending`, 200],
    [`${core}/pods?fieldSelector=${own}&fieldSelector=${other}`, 200],
    [`${core}/pods?fieldSelector==`, 400],
    [`${core}/secrets?fieldSelector=metadata.name%3Down`, 403],
    [`${inDefault}/secrets?fieldSelector=metadata.name%3Dother&watch=true`, 403],
    [`${inDefault}/secrets?fieldSelector=metadata.name%21%3Dother`, 403],
    [`${inDefault}/secrets?labelSelector=a&watch=true`, 403],
    ['/api/v1/namespaces/kube-system/secrets?fieldSelector=metadata.name%3Down&watch=true', 403],
    ['/api/v1/namespaces/kube-system/secrets/own', 403],
    ['/metrics', 403],
    ['/apis', 200],
  ] as const) {
    it(`gets ${status} for ${path}`, async () => {
      const answer = await ask('GET', path);
      assert.equal(answer.status, status, answer.text);
      // A field that is selected twice is decided by the first selector.
      if (status === 200 && path.includes('fieldSelector') && !path.includes('watch')) {
        const { items } = JSON.parse(answer.text) as { items: { spec: { nodeName: string } }[] };
        assert.deepEqual([...new Set(items.map(({ spec }) => spec.nodeName))], ['n1']);
      }
    });
  }

  it('can no longer read a Secret when the pod that needs it is deleted', async () => {
    const pod = { metadata: { name: 'brief' }, spec: { containers: [container('c', 'brief')] } };
    await make(`${inDefault}/secrets`, { metadata: { name: 'brief' } });
    const read = async () => (await ask('GET', `${inDefault}/secrets/brief`)).status;
    assert.equal(await read(), 403);
    await make(`${inDefault}/pods`, pod);
    assert.equal(await read(), 403);
    await make(`${inDefault}/pods/brief/binding`, { target: { name: 'n1' } });
    assert.equal(await read(), 200);
    await world.server.call('DELETE', `${inDefault}/pods/brief?gracePeriodSeconds=0`);
    assert.equal(await read(), 403);
  });

  it('reads only the object that its pod needs, of a Secret and a ConfigMap with the same name', async () => {
    const collections = ['secrets', 'configmaps'] as const;
    for (const name of ['only-secret', 'only-map'])
      for (const collection of collections) await make(`${inDefault}/${collection}`, { metadata: { name } });
    const envFrom = [{ secretRef: { name: 'only-secret' } }, { configMapRef: { name: 'only-map' } }];
    const spec = { containers: [{ name: 'c', image: 'i', envFrom }] };
    await make(`${inDefault}/pods`, { metadata: { name: 'both' }, spec });
    await make(`${inDefault}/pods/both/binding`, { target: { name: 'n1' } });
    for (const [path, status] of [
      ['secrets/only-secret', 200],
      ['configmaps/only-map', 200],
      ['secrets/only-map', 403],
      ['configmaps/only-secret', 403],
    ] as const)
      assert.equal((await ask('GET', `${inDefault}/${path}`)).status, status, path);
    await world.server.call('DELETE', `${inDefault}/pods/both?gracePeriodSeconds=0`);
  });

  it('reads only the claims and volumes of its pods', async () => {
    for (const name of ['mine', 'theirs']) {
      const resources = { requests: { storage: '1Mi' } };
      const spec = { accessModes: ['ReadWriteOnce'], resources };
      await make(`${inDefault}/persistentvolumeclaims`, { metadata: { name }, spec });
    }
    for (const name of ['mine', 'theirs', 'free']) {
      const claimRef = name === 'free' ? {} : { claimRef: { namespace: 'default', name } };
      const [capacity, accessModes] = [{ storage: '1Mi' }, ['ReadWriteOnce']];
      const spec = { capacity, accessModes, hostPath: { path: '/v' }, ...claimRef };
      await make(`${core}/persistentvolumes`, { metadata: { name: `volume-${name}` }, spec });
    }
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'mine' } }];
    const spec = { containers: [{ name: 'c', image: 'i' }], volumes };
    await make(`${inDefault}/pods`, { metadata: { name: 'claims' }, spec });
    await make(`${inDefault}/pods/claims/binding`, { target: { name: 'n1' } });
    const of = `${inDefault}/persistentvolumeclaims`;
    for (const [path, status] of [
      [`${of}/mine`, 200],
      [`${of}?fieldSelector=metadata.name%3Dmine`, 200],
      [`${core}/persistentvolumes/volume-mine`, 200],
      [`${of}/theirs`, 403],
      [of, 403],
      [`${core}/persistentvolumes/volume-theirs`, 403],
      [`${core}/persistentvolumes/volume-free`, 403],
      [`${core}/persistentvolumes/none`, 403],
      [`${core}/persistentvolumes`, 403],
    ] as const)
      assert.equal((await ask('GET', path)).status, status, path);
    for (const path of [`${of}/mine`, `${core}/persistentvolumes/volume-mine`])
      assert.equal((await ask('DELETE', path)).status, 403, path);
    await world.server.call('DELETE', `${inDefault}/pods/claims?gracePeriodSeconds=0`);
    assert.equal((await ask('GET', `${core}/persistentvolumes/volume-mine`)).status, 403);
  });

  for (const [title, spec] of [
    ['a Secret volume', { volumes: [{ name: 'v', secret: { secretName: 'needed' } }] }],
    [
      'a projected volume',
      { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 'needed' } }] } }] },
    ],
    ['the pull of its image', { imagePullSecrets: [{ name: 'needed' }] }],
    ['an init container', { initContainers: [container('i', 'needed')] }],
  ] as const) {
    it(`reads the Secret that ${title} of its pod names`, async () => {
      await make(`${inDefault}/secrets`, { metadata: { name: 'needed' } });
      const read = async () => (await ask('GET', `${inDefault}/secrets/needed`)).status;
      assert.equal(await read(), 403);
      const containers = [{ name: 'c', image: 'i' }];
      await make(`${inDefault}/pods`, { metadata: { name: 'needs' }, spec: { containers, ...spec } });
      await make(`${inDefault}/pods/needs/binding`, { target: { name: 'n1' } });
      assert.equal(await read(), 200);
      await world.server.call('DELETE', `${inDefault}/pods/needs?gracePeriodSeconds=0`);
      await world.server.call('DELETE', `${inDefault}/secrets/needed`);
    });
  }
});

describe('a node whose Node was deleted', () => {
  const own = `${core}/nodes/n1`;
  const statusOf = async (path: string) => (await ask('GET', path)).status;
  before(async () => {
    assert.equal((await world.server.call('DELETE', own)).status, 200);
  });

  for (const kind of registry) {
    it(`has access only to its own ${nameOf(kind)}`, async () => {
      assert.deepEqual(await passedOn(kind), [...(allowedWithoutNode[nameOf(kind)] ?? [])].sort());
    });
  }

  it('can read the pods that are bound to it, and the addresses that are the same on all nodes', async () => {
    assert.equal(await statusOf(`${core}/pods?fieldSelector=spec.nodeName%3Dn1`), 200);
    assert.equal(await statusOf(`${inDefault}/services/kubernetes`), 200);
    assert.equal(await statusOf(`${core}/namespaces/kube-system/services/kube-dns`), 200);
    assert.equal(await statusOf(`${inDefault}/services/kube-dns`), 403);
  });

  it('has its rights again when its Node is created again, but not while that is Pending', async () => {
    const reads = [`${core}/services`, `${core}/nodes`, `${inDefault}/secrets/own`];
    const statuses = () => Promise.all(reads.map(statusOf));
    assert.deepEqual(await statuses(), [403, 403, 403]);
    await make(`${core}/nodes`, { metadata: { name: 'n1' }, status: { phase: 'Pending' } });
    assert.deepEqual(await statuses(), [403, 403, 403]);
    const node = (await world.server.call('GET', own)).json<KubeObject>();
    const letIn = await world.server.call('PUT', `${own}/status`, { ...node, status: {} });
    assert.equal(letIn.status, 200, letIn.text);
    assert.deepEqual(await statuses(), [200, 200, 200]);
  });
});
