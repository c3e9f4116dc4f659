import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import type { NodeConnection } from '../../../src/kube-apiserver/node-connection.ts';
import { type Store, StoreUnavailableError } from '../../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const configMaps = '/api/v1/namespaces/default/configmaps';

describe('paths and methods', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const cases: readonly [string, string, number][] = [
    ['GET', '/nope', 404],
    ['GET', '/api/v2', 404],
    ['GET', '/api/v1/nothings', 404],
    ['GET', '/apis/nope/v1/things', 404],
    ['GET', '/apis/apps/v1/namespaces/default/deployments/x/nothing', 404],
    ['GET', '/api/v1/namespaces/default/nodes', 404],
    ['GET', '/api/v1/pods/x', 404],
    ['POST', '/api/v1/pods', 405],
    ['PUT', configMaps, 405],
    ['PATCH', configMaps, 405],
    ['POST', `${configMaps}/x`, 405],
    ['OPTIONS', configMaps, 405],
    ['TRACES', configMaps, 405],
    ['GET', '/api/v1/namespaces/default/pods/x/binding', 405],
    ['GET', '/api/v1/namespaces/default/pods/%ff', 400],
    ['GET', '/api/v1/namespaces/%E0%A4%A/pods', 400],
    ['GET', `/api/v1/namespaces/default/pods/${'x'.repeat(5000)}`, 404],
    ['GET', `/api/v1/pods?labelSelector=${'a,'.repeat(999)}a`, 200],
    ['GET', `/api/v1/pods?labelSelector=${'a,'.repeat(1000)}a`, 400],
    ['GET', `/api/v1/pods?fieldSelector=${'status.phase!=x,'.repeat(1000)}status.phase!=x`, 400],
    ['GET', '/api/v1/namespaces/default/pods/a%2Fb', 404],
    ['GET', '/api/v1/namespaces//pods', 404],
    ['GET', '/api/v1/namespaces/default/configmaps/', 200],
    ['GET', '//api/v1/pods', 404],
    ['HEAD', '/api/v1/pods', 200],
    ['GET', '/api/v1/pods?resourceVersion=%00', 400],
    ['GET', '/api/v1/namespaces/__proto__/pods', 200],
    ['GET', '/api/v1/namespaces/default/constructor', 404],
    ['GET', '/api/v1/namespaces/default/pods/x/constructor', 404],
    ['GET', '/version/', 200],
    ['GET', crds, 200],
    ['GET', `${crds}/things.example.com`, 404],
    ['GET', '/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions', 404],
    ['GET', `/apis/apiextensions.k8s.io/v1/namespaces/default/customresourcedefinitions`, 404],
    ['GET', '/api/v1/namespaces?timeout=invalid', 400],
    ['GET', '/api/v1/namespaces?timeout=5', 400],
    ['GET', '/api/v1/namespaces?timeout=1d', 400],
    ['GET', '/apis?timeout=soon', 400],
    ['DELETE', `${configMaps}/x?timeout=-`, 400],
    ['GET', '/api/v1/namespaces?timeout=', 200],
    ['GET', '/api/v1/namespaces?timeout=0', 200],
    ['GET', '/api/v1/namespaces?timeout=0s', 200],
    ['GET', '/api/v1/namespaces?timeout=-5s', 200],
    ['GET', '/api/v1/namespaces?timeout=2562047h', 200],
    ['GET', '/api/v1/namespaces?timeout=1h2m3.5s4ms5us6%C2%B5s7ns', 200],
  ];
  for (const [method, path, code] of cases) {
    it(`${method} ${path.slice(0, 80)} is answered with ${code}`, async () => {
      const answer = await server.call(method, path);
      assert.equal(answer.status, code, answer.text.slice(0, 300));
      assert.match(answer.headers.get('audit-id') ?? '', /-/);
    });
  }

  it('answers an unknown address differently from a missing object', async () => {
    const pod = '/api/v1/namespaces/default/pods/none';
    const gone = (await server.call('GET', `${pod}/status`)).json<Status>();
    assert.deepEqual([gone.message, gone.details?.name], ['pods "none" not found', 'none']);
    for (const [method, path, kind] of [
      ['PATCH', `${pod}/checkpoint`, 'pods/checkpoint'],
      ['GET', `${pod}/status/more`, 'pods/status'],
      ['GET', '/api/v1/namespaces/default/nodes/none', 'nodes'],
    ] as const) {
      const answer = await server.call(method, path);
      assert.equal(answer.status, 404);
      const { message, reason, details } = answer.json<Status>();
      assert.equal(message, 'the server could not find the requested resource', path);
      // kubectl uses these details to distinguish a server without the subresource from a pod that does not
      // exist.
      assert.deepEqual([reason, details], ['NotFound', { kind }]);
    }
  });

  it('answers an unknown path in plain text', async () => {
    const answer = await server.call('GET', '/nope');
    assert.equal(answer.text, '404 page not found\n');
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
  });
});

describe('discovery', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ advertiseAddress: '192.0.2.1:6443' });
  });
  after(() => server.stop());

  const aggregated = (version: string) =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  const get = (path: string, accept = 'application/json') =>
    server.call('GET', path, undefined, { headers: { accept } });

  it('is aggregated in the version and the type that the client requested', async () => {
    for (const version of ['v2', 'v2beta1']) {
      const answer = await get('/apis', `${aggregated(version)},application/json`);
      assert.equal(answer.headers.get('content-type'), aggregated(version));
      assert.equal(answer.json().apiVersion, `apidiscovery.k8s.io/${version}`);
    }
    const core = await get('/api', 'application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList');
    type Entry = {
      resource: string;
      verbs: string[];
      scope: string;
      subresources?: { subresource: string; responseKind: object }[];
    };
    const { items } = core.json<{
      items: { metadata: { name: string }; versions: { resources: Entry[] }[] }[];
    }>();
    assert.equal(items.length, 1);
    assert.equal(items[0]?.metadata.name, '');
    const pods = items[0]?.versions[0]?.resources.find(({ resource }) => resource === 'pods');
    assert.equal(pods?.scope, 'Namespaced');
    assert.ok(pods?.verbs.includes('deletecollection'));
    assert.deepEqual(
      pods?.subresources?.find(({ subresource }) => subresource === 'eviction')?.responseKind,
      {
        group: 'policy',
        version: 'v1',
        kind: 'Eviction',
      },
    );
  });

  it('is answered with 304 if the client has the current document', async () => {
    const first = await get('/api', aggregated('v2'));
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^"[0-9A-F]+"$/);
    const headers = { accept: aggregated('v2'), 'if-none-match': etag };
    assert.equal((await server.call('GET', '/api', undefined, { headers })).status, 304);
  });

  it('includes the documents for older clients', async () => {
    assert.deepEqual((await get('/api')).json<{ versions: string[] }>().versions, ['v1']);
    assert.match((await get('/api')).text, /192\.0\.2\.1:6443/);
    const groups = (await get('/apis')).json<{ groups: { name: string }[] }>().groups.map(({ name }) => name);
    assert.ok(groups.includes('apps') && !groups.includes(''));
    assert.equal((await get('/apis/apps')).json().kind, 'APIGroup');
    type List = { groupVersion: string; resources: { name: string; group?: string; kind: string }[] };
    const apps = (await get('/apis/apps/v1')).json<List>();
    assert.equal(apps.groupVersion, 'apps/v1');
    const scale = apps.resources.find(({ name }) => name === 'deployments/scale');
    assert.deepEqual([scale?.group, scale?.kind], ['autoscaling', 'Scale']);
    assert.ok((await get('/api/v1/')).json<List>().resources.some(({ name }) => name === 'pods/log'));
    assert.ok((await get('/')).json<{ paths: string[] }>().paths.includes('/apis/apps/v1'));
  });

  it('describes the API under a stable hash', async () => {
    type Index = { paths: Record<string, { serverRelativeURL: string }> };
    const url = (await get('/openapi/v3')).json<Index>().paths['apis/apps/v1']?.serverRelativeURL ?? '';
    const document = await get(url);
    assert.equal(document.status, 200);
    assert.equal(document.headers.get('cache-control'), 'public, immutable');
    assert.ok(document.headers.get('expires'));
    const paths = document.json<{ paths: Record<string, { patch?: { parameters: { name: string }[] } }> }>()
      .paths;
    const { patch } = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'] ?? {};
    assert.ok(patch?.parameters.some(({ name }) => name === 'dryRun'));
    const old = await get('/openapi/v3/apis/apps/v1?hash=OLD');
    assert.equal(old.status, 301);
    assert.equal(old.headers.get('location'), url);
    assert.equal((await get('/openapi/v3/apis/nope/v1')).status, 404);
    const proto = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const encoded = await get('/openapi/v2', proto);
    assert.match(encoded.headers.get('content-type') ?? '', /proto-openapi/);
    assert.equal((await get('/openapi/v2')).json<{ swagger: string }>().swagger, '2.0');
  });
});

describe('logs of pods', () => {
  const pods = '/api/v1/namespaces/default/pods';
  let server: TestServer;
  const asked: string[] = [];
  const nodeConnection: NodeConnection = async (node, path) => {
    asked.push(`${node}${path}`);
    if (path.includes('/two/b')) return new Response('container "b" is waiting\n', { status: 400 });
    if (path.includes('/two/a')) throw new Error('connection refused');
    return new Response('line\n');
  };
  before(async () => {
    server = await startTestServer({ nodeConnection });
    for (const [name, containers] of [
      ['one', ['a']],
      ['two', ['a', 'b']],
    ] as const) {
      const spec = { containers: containers.map((container) => ({ name: container, image: 'i' })) };
      await server.call('POST', pods, { metadata: { name }, spec });
    }
  });
  after(() => server.stop());
  const log = (rest: string) => server.call('GET', `${pods}/${rest}`);

  it('are read from the node, with the options for the node', async () => {
    assert.match((await log('one/log')).json<Status>().message ?? '', /does not have a host assigned/);
    for (const name of ['one', 'two']) {
      await server.call('POST', `${pods}/${name}/binding`, { target: { name: 'n1' } });
    }
    const answer = await log('one/log?tailLines=5&follow=true&pretty=true&container=a');
    assert.equal(answer.text, 'line\n');
    assert.equal(answer.headers.get('content-type'), 'text/plain');
    assert.equal(asked.at(-1), 'n1/containerLogs/default/one/a?follow=true&tailLines=5');
  });

  for (const [path, code, message] of [
    ['two/log', 400, 'a container name must be specified for pod two, choose one of: [a b]'],
    ['two/log?container=c', 400, 'container c is not valid for pod two'],
    ['two/log?container=b', 400, 'container "b" is waiting'],
    [
      'two/log?container=a',
      500,
      'Internal error occurred: cannot reach the node agent of n1: connection refused',
    ],
    ['three/log', 404, 'pods "three" not found'],
  ] as const) {
    it(`${path} is refused with its reason`, async () => {
      const answer = await log(path);
      assert.equal(answer.status, code);
      assert.equal(answer.json<Status>().message, message);
    });
  }
});

describe('a failing store', () => {
  it('is distinguished from a bad request, and shows in readyz', async () => {
    let broken = false;
    const log = new RecordingLogger();
    const wrapStore = (store: Store): Store => ({
      ...store,
      get: (key) => (broken ? Promise.reject(new StoreUnavailableError('gone')) : store.get(key)),
      currentRevision: () =>
        broken ? Promise.reject(new StoreUnavailableError('gone')) : store.currentRevision(),
      create: (key, value, claims) => {
        if (key.endsWith('/bug')) throw new TypeError('secret detail');
        return broken ? Promise.reject(new StoreUnavailableError('gone')) : store.create(key, value, claims);
      },
    });
    const server = await startTestServer({ wrapStore, log });
    const bug = await server.call('POST', configMaps, { metadata: { name: 'bug' } });
    assert.equal(bug.status, 500);
    assert.doesNotMatch(bug.text, /secret/);
    broken = true;
    const read = await server.call('GET', `${configMaps}/x`);
    assert.equal(read.status, 503);
    const write = await server.call('POST', configMaps, { metadata: { name: 'x' } });
    assert.equal(write.status, 504);
    // Retry-After would allow the client to send the write again.
    for (const { headers } of [read, write]) assert.equal(headers.get('retry-after'), null);
    const ready = await server.call('GET', '/readyz?verbose');
    assert.equal(ready.status, 500);
    assert.match(ready.text, /\[-\]etcd failed: gone/);
    assert.match(ready.text, /readyz check failed/);
    const strange = await server.app.fetch(new Request('https://apiserver/readyz'), {});
    assert.equal(strange.status, 500);
    assert.doesNotMatch(await strange.text(), /gone/);
    assert.equal((await server.call('GET', '/readyz?exclude=etcd')).status, 200);
    assert.equal((await server.call('GET', '/livez')).status, 200);
    await server.stop();
  });

  it('is not ready before the cache has its first list', async () => {
    let synced = false;
    const server = await startTestServer({ cacheSynced: () => synced });
    assert.equal((await server.call('GET', '/readyz')).status, 500);
    assert.match((await server.call('GET', '/readyz/informer-sync')).text, /failed/);
    synced = true;
    assert.equal((await server.call('GET', '/readyz')).text, 'ok');
    assert.equal((await server.call('GET', '/readyz/nothing')).status, 404);
    await server.stop();
  });
});

describe('a request with a timeout', () => {
  let server: TestServer;
  let isStuck = false;
  let wasStopped = false;
  before(async () => {
    server = await startTestServer({
      wrapStore: (store) => ({
        ...store,
        currentRevision: () => (isStuck ? new Promise(() => undefined) : store.currentRevision()),
      }),
      nodeConnection: (_node, _path, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            wasStopped = true;
            reject(signal.reason);
          });
        }),
    });
  });
  after(() => server.stop());

  it('ends with 504 after its timeout', async () => {
    isStuck = true;
    const waiting = server.call('GET', `${configMaps}?timeout=20s`);
    await server.clock.advance(19_999);
    assert.equal(await Promise.race([waiting, 'waiting']), 'waiting');
    await server.clock.advance(1);
    const answer = await waiting;
    assert.equal(answer.status, 504);
    assert.equal(answer.json<Status>().reason, 'Timeout');
    isStuck = false;
    const next = server.call('GET', `${configMaps}?timeout=20s`);
    // An unanswered question delays the next question for this long.
    await server.clock.advance(1000);
    assert.equal((await next).status, 200);
    assert.equal(server.clock.pending, 0);
  });

  it('waits for at most a minute', async () => {
    isStuck = true;
    const waiting = server.call('GET', `${configMaps}?timeout=1h`);
    await server.clock.advance(60_000);
    assert.equal((await waiting).status, 504);
    isStuck = false;
  });

  it('is not ended by the timeout if it is long-running', async () => {
    const stop = new AbortController();
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
    const made = server.call('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec });
    // The unanswered questions delay the next question for this long.
    await server.clock.advance(1000);
    assert.equal((await made).status, 201);
    const log = '/api/v1/namespaces/default/pods/p/log?follow=true&timeout=5s';
    const following = server.call('GET', log, undefined, { signal: stop.signal });
    await server.clock.advance(60_000);
    assert.equal(wasStopped, false);
    stop.abort();
    await following.catch(() => undefined);
    assert.equal(wasStopped, true);
  });
});

describe('a client that accepts no form of the answer', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());
  const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const apps = '/apis/apps/v1/namespaces/default/deployments';
  const pods = '/api/v1/namespaces/default/pods';

  it('is rejected before its request has any effect', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const template = { metadata: { labels: { a: 'b' } }, spec };
    const workload = { selector: { matchLabels: { a: 'b' } }, template };
    for (const [path, body] of [
      [pods, { metadata: { name: 'p' }, spec }],
      [apps, { metadata: { name: 'd' }, spec: workload }],
    ] as const) {
      assert.equal((await server.call('POST', path, body)).status, 201);
    }
    const eviction = { kind: 'Eviction', metadata: { name: 'p' } };
    for (const [method, path, body, accept] of [
      ['POST', configMaps, { metadata: { name: 'unseen' } }, 'text/html'],
      ['DELETE', `${apps}/d`, undefined, 'text/html'],
      ['PUT', `${apps}/d/scale`, { spec: { replicas: 9 } }, table],
      ['GET', `${apps}/d/scale`, undefined, table],
      ['POST', `${pods}/p/binding`, { target: { name: 'n' } }, table],
      ['POST', `${pods}/p/eviction`, eviction, table],
    ] as const) {
      const answer = await server.call(method, path, body, { headers: { accept } });
      assert.equal(answer.status, 406, `${method} ${path} ${answer.text}`);
      assert.equal(answer.json<Status>().reason, 'NotAcceptable');
    }
    assert.equal((await server.call('GET', `${configMaps}/unseen`)).status, 404);
    assert.equal(
      (await server.call('GET', `${pods}/p`)).json<{ spec: { nodeName?: string } }>().spec.nodeName,
      undefined,
    );
    const scale = await server.call('GET', `${apps}/d/scale`, undefined, {
      headers: { accept: `${table},application/json` },
    });
    assert.equal(scale.json<{ spec: { replicas: number } }>().spec.replicas, 1);
  });
});
