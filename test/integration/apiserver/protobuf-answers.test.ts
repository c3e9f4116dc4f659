/** Answers for clients that request protobuf. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kubernetesMessages } from '../../../src/api/message-table.ts';
import { decodeMessage } from '../../../src/apimachinery/protobuf/decode-message.ts';
import { decodeProtobuf, protobufType } from '../../../src/apimachinery/protobuf/envelope.ts';
import { eachField, WireReader } from '../../../src/apimachinery/protobuf/reader.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const only = { accept: protobufType };
const configMaps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

function messageOf(name: string) {
  const type = kubernetesMessages.typeOf(name);
  assert.ok(type, name);
  return type;
}

const read = (bytes: Uint8Array, apiVersion: string, kind: string, name: string) =>
  decodeProtobuf(bytes, { apiVersion, kind, type: messageOf(name) });

/** Returns the parts of a list: its metadata, and its items, which carry no kind. */
function readList(bytes: Uint8Array, kind: string, name: string) {
  const found: { kind?: string; metadata?: object; items: Record<string, unknown>[] } = { items: [] };
  eachField(new WireReader(bytes.subarray(4)), {
    1: (reader, wire) =>
      eachField(reader.within(wire), {
        2: (inner, innerWire) => {
          found.kind = inner.string(innerWire);
        },
      }),
    2: (reader, wire) =>
      eachField(reader.within(wire), {
        1: (inner, innerWire) => {
          found.metadata = decodeMessage(inner.bytes(innerWire), messageOf('meta.v1.ListMeta'));
        },
        2: (inner, innerWire) => {
          found.items.push(decodeMessage(inner.bytes(innerWire), messageOf(name)));
        },
      }),
  });
  assert.equal(found.kind, kind);
  return found;
}

const deployment = {
  metadata: { name: 'd' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'd' } },
    template: {
      metadata: { labels: { app: 'd' } },
      spec: {
        containers: [
          { name: 'c', image: 'i', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '100m' } } },
        ],
      },
    },
  },
};

describe('answers in protobuf', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const request = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    new Request(`https://apiserver${path}`, {
      method,
      headers: { ...only, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  const readAnswer = async (answer: Response) => {
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const type = answer.headers.get('content-type');
    assert.equal(type, protobufType, `${answer.status} ${Buffer.from(bytes)}`);
    return { status: answer.status, bytes };
  };
  const call = async (...wanted: Parameters<typeof request>) =>
    readAnswer(await server.handlerFor(admin)(request(...wanted)));
  const json = async (path: string) => (await server.call('GET', path)).json<Record<string, unknown>>();

  it('an object that is created, read, changed and deleted equals the object in JSON', async () => {
    const created = await call('POST', deployments, deployment);
    assert.equal(created.status, 201);
    const shown = await json(`${deployments}/d`);
    assert.deepEqual(read(created.bytes, 'apps/v1', 'Deployment', 'apps.v1.Deployment'), shown);
    const found = await call('GET', `${deployments}/d`);
    assert.deepEqual(read(found.bytes, 'apps/v1', 'Deployment', 'apps.v1.Deployment'), shown);
    const merge = { 'content-type': 'application/merge-patch+json' };
    const patched = await call('PATCH', `${deployments}/d`, { metadata: { annotations: { a: 'ä' } } }, merge);
    assert.equal(patched.status, 200, JSON.stringify(read(patched.bytes, 'v1', 'Status', 'meta.v1.Status')));
    const { metadata } = read(patched.bytes, 'apps/v1', 'Deployment', 'apps.v1.Deployment');
    assert.deepEqual((metadata as { annotations: object }).annotations, { a: 'ä' });
    const scale = await call('GET', `${deployments}/d/scale`);
    assert.deepEqual(read(scale.bytes, 'autoscaling/v1', 'Scale', 'autoscaling.v1.Scale').spec, {});
    const gone = await call('DELETE', `${deployments}/d`);
    assert.equal(read(gone.bytes, 'v1', 'Status', 'meta.v1.Status').status, 'Success');
  });

  it('errors are a Status in protobuf, before and after the kind is determined', async () => {
    for (const path of [
      `${configMaps}/none`,
      '/api/v1/namespaces/default/pods/none',
      '/api/v1/nodes/none/proxy/',
    ])
      assert.equal(
        read((await call('GET', path)).bytes, 'v1', 'Status', 'meta.v1.Status').reason,
        'NotFound',
        path,
      );
    const refused = await readAnswer(await server.app.fetch(request('GET', configMaps), {}));
    assert.equal(read(refused.bytes, 'v1', 'Status', 'meta.v1.Status').code, 401);
  });

  it('lists have their metadata and every item', async () => {
    for (let i = 0; i < 40; i++) {
      const data = { k: 'x'.repeat(5000), [`n${i}`]: '' };
      assert.equal(
        (await server.call('POST', configMaps, { metadata: { name: `l${i}` }, data })).status,
        201,
      );
    }
    const { bytes } = await call('GET', configMaps);
    const list = readList(bytes, 'ConfigMapList', 'core.v1.ConfigMap');
    const shown = (await json(configMaps)) as { items: object[]; metadata: object };
    assert.deepEqual(list.metadata, shown.metadata);
    assert.deepEqual(
      list.items.map((item) => ({ ...item })),
      shown.items.map((item) => {
        const { apiVersion: _a, kind: _k, ...rest } = item as Record<string, unknown>;
        return rest;
      }),
    );
    const page = readList(
      (await call('GET', `${configMaps}?limit=3`)).bytes,
      'ConfigMapList',
      'core.v1.ConfigMap',
    );
    assert.equal(page.items.length, 3);
    assert.equal((page.metadata as { remainingItemCount: number }).remainingItemCount, 37);
    const empty = readList(
      (await call('GET', '/api/v1/namespaces/none/pods')).bytes,
      'PodList',
      'core.v1.Pod',
    );
    assert.deepEqual(empty.items, []);
  });

  it('metadata alone is sent for one object and for a list', async () => {
    const partial = (list: string) => ({
      accept: `${protobufType};as=PartialObjectMetadata${list};g=meta.k8s.io;v=v1`,
    });
    const { bytes } = await call('GET', `${configMaps}/l0`, undefined, partial(''));
    // The field numbers are the same: metadata is the first field of both.
    const one = decodeProtobuf(bytes, {
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadata',
      type: messageOf('core.v1.ConfigMap'),
    });
    assert.deepEqual(Object.keys(one).sort(), ['apiVersion', 'kind', 'metadata']);
    const list = await call('GET', configMaps, undefined, partial('List'));
    const items = readList(list.bytes, 'PartialObjectMetadataList', 'core.v1.ConfigMap').items;
    assert.equal(items.length, 40);
    assert.deepEqual(Object.keys(items[0] ?? {}), ['metadata']);
  });

  it('a watch has events with their object, and a bookmark', async () => {
    const path = `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name=l1`;
    const response = await server.handlerFor(admin)(request('GET', path));
    assert.equal(response.headers.get('content-type'), `${protobufType};stream=watch`);
    const next = frameReader(response);
    const added = await next();
    assert.equal(added.type, 'ADDED');
    assert.deepEqual(
      read(added.object, 'v1', 'ConfigMap', 'core.v1.ConfigMap'),
      await json(`${configMaps}/l1`),
    );
    const mark = await next();
    assert.equal(mark.type, 'BOOKMARK');
    const { annotations } = read(mark.object, 'v1', 'ConfigMap', 'core.v1.ConfigMap').metadata as {
      annotations: object;
    };
    assert.deepEqual(annotations, { 'k8s.io/initial-events-end': 'true' });
    await server.call('DELETE', `${configMaps}/l1`);
    // Events that closely follow another event are delivered together.
    await server.clock.advance(5);
    assert.equal((await next()).type, 'DELETED');
    await next.cancel();
  });

  it('watches in several versions each get an event in their version', async () => {
    const accept = (version: string) => `${protobufType};as=PartialObjectMetadata;g=meta.k8s.io;v=${version}`;
    const from = ((await json(configMaps)) as { metadata: { resourceVersion: string } }).metadata;
    const path = `${configMaps}?watch=1&resourceVersion=${from.resourceVersion}`;
    const expected = [
      [only.accept, 'v1', 'ConfigMap'],
      [accept('v1'), 'meta.k8s.io/v1', 'PartialObjectMetadata'],
      [accept('v1beta1'), 'meta.k8s.io/v1beta1', 'PartialObjectMetadata'],
      [accept('v1'), 'meta.k8s.io/v1', 'PartialObjectMetadata'],
    ] as const;
    const watches = await Promise.all(
      expected.map(async ([form]) =>
        frameReader(await server.handlerFor(admin)(request('GET', path, undefined, { accept: form }))),
      ),
    );
    await server.call('POST', configMaps, { metadata: { name: 'told' }, data: { a: 'b' } });
    // Events that closely follow another event are delivered together.
    await server.clock.advance(5);
    for (const [i, next] of watches.entries()) {
      const [, apiVersion, kind] = expected[i] ?? expected[0];
      const { type, object } = await next();
      assert.equal(type, 'ADDED');
      // The same field numbers as above, and no data when only metadata is requested.
      const { data, metadata } = decodeProtobuf(object, {
        apiVersion,
        kind,
        type: messageOf('core.v1.ConfigMap'),
      });
      assert.deepEqual(data, kind === 'ConfigMap' ? { a: 'b' } : undefined);
      assert.equal((metadata as { name: string }).name, 'told');
      await next.cancel();
    }
  });

  it('an object that leaves a selection has the version of that event', async () => {
    const labels = (value: string) => ({ metadata: { labels: { on: value } } });
    const made = await server.call('POST', configMaps, { metadata: { name: 's', labels: { on: 'yes' } } });
    const { resourceVersion } = made.json().metadata;
    const path = `${configMaps}?watch=1&labelSelector=on%3Dyes&resourceVersion=${resourceVersion}`;
    const next = frameReader(await server.handlerFor(admin)(request('GET', path)));
    const headers = { 'content-type': 'application/merge-patch+json' };
    const left = await server.call('PATCH', `${configMaps}/s`, labels('no'), { headers });
    // Events that closely follow another event are delivered together.
    await server.clock.advance(5);
    const { type, object } = await next();
    const { metadata } = read(object, 'v1', 'ConfigMap', 'core.v1.ConfigMap') as {
      metadata: { resourceVersion: string; labels: object };
    };
    assert.equal(type, 'DELETED');
    assert.deepEqual(metadata.labels, { on: 'yes' });
    assert.equal(metadata.resourceVersion, left.json().metadata.resourceVersion);
    await next.cancel();
  });

  it('an error is in JSON for clients that accept no supported form', async () => {
    for (const accept of ['text/html', `${protobufType};as=Table;g=meta.k8s.io;v=v1`]) {
      const answer = await server.call('GET', `${configMaps}/none`, undefined, { headers: { accept } });
      assert.equal(answer.headers.get('content-type'), 'application/json', accept);
      assert.equal(answer.json<{ kind: string }>().kind, 'Status');
    }
  });

  it('the first of several accepted types that the kind supports is used', async () => {
    const dns = '/apis/minik8s.io/v1/namespaces/default/dnses';
    for (const [path, accept, type] of [
      [configMaps, `${protobufType},application/json`, protobufType],
      [configMaps, `${protobufType}, */*`, protobufType],
      [configMaps, `application/json,${protobufType}`, 'application/json'],
      [`${configMaps}?watch=1`, `${protobufType}, */*`, `${protobufType};stream=watch`],
      [`${configMaps}/none`, `${protobufType},application/json`, protobufType],
      [dns, `${protobufType},application/json`, 'application/json'],
    ] as const) {
      const signal = AbortSignal.timeout(60_000);
      const answer = await server.handlerFor(admin)(
        new Request(`https://apiserver${path}`, { headers: { accept }, signal }),
      );
      assert.equal(answer.headers.get('content-type'), type, `${path} ${accept}`);
      await answer.body?.cancel();
    }
  });

  it('clients that accept neither form, or only protobuf for minik8s’ own kinds, get 406 and nothing is written', async () => {
    const dns = '/apis/minik8s.io/v1/namespaces/default/dnses';
    const body = {
      metadata: { name: 'x' },
      spec: { host: 'a.example', paths: [{ path: '/', service: { name: 's', port: 80 } }] },
    };
    for (const [path, object, accept] of [
      [dns, body, protobufType],
      [configMaps, { metadata: { name: 'x' } }, 'text/html'],
    ] as const) {
      const refused = await server.call('POST', path, object, { headers: { accept } });
      assert.equal(refused.status, 406, refused.text);
      assert.equal((await server.call('GET', `${path}/x`)).status, 404);
    }
    const table = await server.call('GET', configMaps, undefined, {
      headers: { accept: `${protobufType};as=Table;g=meta.k8s.io;v=v1` },
    });
    assert.equal(table.status, 406);
  });
});

/** Returns a reader of frames: four bytes of length, then the type and the object's envelope. */
function frameReader(response: Response) {
  assert.ok(response.body);
  const reader = response.body.getReader();
  let rest = Buffer.alloc(0);
  const next = async () => {
    while (rest.length < 4 || rest.length < 4 + rest.readUInt32BE(0)) {
      const { value, done } = await reader.read();
      assert.ok(!done, 'the watch has ended');
      rest = Buffer.concat([rest, value]);
    }
    const end = 4 + rest.readUInt32BE(0);
    const frame = rest.subarray(4, end);
    rest = rest.subarray(end);
    let type = '';
    let object: Uint8Array = new Uint8Array();
    eachField(new WireReader(frame), {
      1: (inner, wire) => {
        type = inner.string(wire);
      },
      2: (inner, wire) =>
        eachField(inner.within(wire), {
          1: (raw, rawWire) => {
            object = raw.bytes(rawWire);
          },
        }),
    });
    return { type, object };
  };
  return Object.assign(next, { cancel: () => reader.cancel() });
}
