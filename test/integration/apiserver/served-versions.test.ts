/**
 * A kind with two versions, through the whole server: objects written in one version are readable in the
 * other, in every format.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kubernetesMessages } from '../../../src/api/message-table.ts';
import { decodeProtobuf, protobufType } from '../../../src/apimachinery/protobuf/envelope.ts';
import { admin, startTestServer, storedObject, type TestServer } from '../../fixtures/api-server.ts';
import { encodeMessage, envelope } from '../../fixtures/protobuf-writer.ts';
import { openTestWatch } from '../../fixtures/watch-reader.ts';
import {
  behavior,
  carrier,
  cpu,
  inV1,
  inV2,
  memory,
  pods,
  status,
} from '../../unit/api/autoscaling/samples.ts';

interface Shown {
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Record<string, string>;
    resourceVersion: string;
  };
  readonly spec: Readonly<Record<string, unknown>> & { readonly metrics?: readonly object[] };
  readonly status?: Readonly<Record<string, unknown>>;
  readonly items: readonly Shown[];
}

const path = (version: 'v1' | 'v2') =>
  `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const named = (name: string, body: object) => ({ ...body, metadata: { name } });
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1';

describe('an autoscaler in two versions', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const call = async (method: string, at: string, body?: object, options = {}): Promise<Shown> => {
    const answer = await server.call(method, at, body, options);
    assert.ok(answer.status < 300, `${method} ${at}: ${answer.text}`);
    return answer.json<Shown>();
  };
  const get = (version: 'v1' | 'v2', name: string) => call('GET', `${path(version)}/${name}`);

  it('has v2 as its preferred version, and the same names in both', async () => {
    const group = (await server.call('GET', '/apis/autoscaling')).json<{
      versions: { version: string }[];
      preferredVersion: { version: string };
    }>();
    assert.deepEqual(
      [group.versions.map(({ version }) => version), group.preferredVersion.version],
      [['v2', 'v1'], 'v2'],
    );
    for (const version of ['v1', 'v2']) {
      const list = (await server.call('GET', `/apis/autoscaling/${version}`)).json<{
        resources: { name: string; shortNames?: string[]; categories?: string[] }[];
      }>();
      assert.deepEqual(
        list.resources.map(({ name, shortNames, categories }) => [name, shortNames, categories]),
        [
          ['horizontalpodautoscalers', ['hpa'], ['all']],
          ['horizontalpodautoscalers/status', undefined, undefined],
        ],
      );
    }
  });

  it('is read, patched, listed and deleted in v2 after it was written in v1', async () => {
    const created = await call('POST', path('v1'), named('a', inV1({ targetCPUUtilizationPercentage: 50 })));
    assert.equal(created.apiVersion, 'autoscaling/v1');
    assert.equal(created.spec.targetCPUUtilizationPercentage, 50);
    assert.equal(
      (await storedObject(server, '/registry/horizontalpodautoscalers.autoscaling/default/a'))?.apiVersion,
      'autoscaling/v2',
    );
    assert.deepEqual((await get('v2', 'a')).spec.metrics, [cpu]);
    const patched = await call('PATCH', `${path('v2')}/a`, { spec: { metrics: [memory, cpu] } }, merge);
    assert.deepEqual(patched.spec.metrics, [memory, cpu]);
    const shown = await get('v1', 'a');
    assert.match(shown.metadata.annotations?.[carrier('metrics')] ?? '', /"memory"/);
    assert.equal(shown.spec.targetCPUUtilizationPercentage, 50);
    const list = await call('GET', path('v2'));
    assert.deepEqual(
      [list.apiVersion, list.items[0]?.apiVersion, list.items[0]?.spec.metrics],
      ['autoscaling/v2', 'autoscaling/v2', [memory, cpu]],
    );
    await call('DELETE', `${path('v2')}/a`);
    assert.equal((await server.call('GET', `${path('v1')}/a`)).status, 404);
  });

  it('loses no field of v2 when a client reads, patches and replaces it in v1', async () => {
    const created = await call('POST', path('v2'), named('b', inV2({ metrics: [pods, cpu], behavior })));
    const withStatus = await call('PUT', `${path('v2')}/b/status`, { ...created, status });
    assert.deepEqual(withStatus.status?.conditions, status.conditions);
    const before = (await get('v2', 'b')) as { spec: object; status?: object };
    const shown = await get('v1', 'b');
    const replaced = await call('PUT', `${path('v1')}/b`, {
      ...shown,
      spec: { ...shown.spec, maxReplicas: 12 },
    });
    assert.equal(replaced.spec.maxReplicas, 12);
    assert.match(replaced.metadata.annotations?.[carrier('conditions')] ?? '', /AbleToScale/);
    const patched = await call('PATCH', `${path('v1')}/b`, { metadata: { labels: { a: 'b' } } }, merge);
    assert.equal(patched.apiVersion, 'autoscaling/v1');
    const after = await get('v2', 'b');
    assert.deepEqual(after.spec, { ...before.spec, maxReplicas: 12 });
    assert.deepEqual(after.status, before.status);
    assert.equal(after.metadata.annotations, undefined);
    // A status write in v1 keeps the fields that v1 does not have.
    const now = await get('v1', 'b');
    await call('PUT', `${path('v1')}/b/status`, { ...now, status: { ...now.status, desiredReplicas: 7 } });
    assert.deepEqual((await get('v2', 'b')).status, { ...before.status, desiredReplicas: 7 });
    const list = await call('GET', path('v1'));
    assert.deepEqual(
      [list.apiVersion, list.items[0]?.apiVersion, list.items[0]?.spec.targetCPUUtilizationPercentage],
      ['autoscaling/v1', 'autoscaling/v1', 50],
    );
    assert.deepEqual(
      (await call('DELETE', path('v1'))).items.map((item) => item.apiVersion),
      ['autoscaling/v1'],
    );
  });

  it('is watched in each version, written in any version', async () => {
    const { metadata } = await call('GET', path('v2'));
    const query = `watch=1&resourceVersion=${metadata.resourceVersion}`;
    const inFirst = await openTestWatch(server, `${path('v1')}?${query}`);
    const inSecond = await openTestWatch(server, `${path('v2')}?${query}`);
    const ofMetadata = await openTestWatch(server, `${path('v1')}?${query}`, { accept: partial });
    await call('POST', path('v1'), named('c', inV1({ targetCPUUtilizationPercentage: 50 })));
    await call('PATCH', `${path('v2')}/c`, { spec: { metrics: [pods] } }, merge);
    await call('DELETE', `${path('v2')}/c`);
    const seen = async (watch: typeof inFirst) => {
      const found: [string, Shown][] = [];
      for (let count = 0; count < 3; count++) {
        const line = await watch.next();
        assert.ok(line);
        found.push([line.type, line.object as unknown as Shown]);
      }
      watch.abort();
      return found;
    };
    const first = await seen(inFirst);
    assert.deepEqual(
      first.map(([type, { apiVersion, spec }]) => [type, apiVersion, spec.targetCPUUtilizationPercentage]),
      [
        ['ADDED', 'autoscaling/v1', 50],
        ['MODIFIED', 'autoscaling/v1', undefined],
        ['DELETED', 'autoscaling/v1', undefined],
      ],
    );
    const second = await seen(inSecond);
    assert.deepEqual(
      second.map(([type, { apiVersion, spec }]) => [type, apiVersion, spec.metrics]),
      [
        ['ADDED', 'autoscaling/v2', [cpu]],
        ['MODIFIED', 'autoscaling/v2', [pods]],
        ['DELETED', 'autoscaling/v2', [pods]],
      ],
    );
    const carried = ([, { metadata }]: [string, Shown]) => metadata.annotations?.[carrier('metrics')];
    assert.match(first.map(carried)[1] ?? '', /hits/);
    assert.deepEqual((await seen(ofMetadata)).map(carried), first.map(carried));
    assert.deepEqual(second.map(carried), [undefined, undefined, undefined]);
  });

  it('has the annotations of v1 in every form of v1, and in no form of v2', async () => {
    await call('POST', path('v2'), named('d', inV2({ metrics: [pods] })));
    type Row = { rows: { object: Shown; cells: unknown[] }[] };
    for (const [version, expected] of [
      ['v1', true],
      ['v2', false],
    ] as const) {
      const one = await call('GET', `${path(version)}/d`, undefined, { headers: { accept: partial } });
      const [listed] = (await call('GET', path(version), undefined, { headers: { accept: partialList } }))
        .items;
      const table = (await call('GET', path(version), undefined, {
        headers: { accept: asTable },
      })) as unknown as Row;
      for (const shown of [one, listed, table.rows[0]?.object])
        assert.equal(shown?.metadata.annotations?.[carrier('metrics')] !== undefined, expected, version);
      assert.equal(table.rows[0]?.cells[2], '<unknown>/1500m');
    }
    await call('DELETE', `${path('v1')}/d`);
  });

  it('is written and read in protobuf in both versions', async () => {
    const typeOf = (version: string) => {
      const type = kubernetesMessages.typeOf(`autoscaling.${version}.HorizontalPodAutoscaler`);
      assert.ok(type);
      return type;
    };
    const kind = 'HorizontalPodAutoscaler';
    const read = async (version: 'v1' | 'v2', name: string) => {
      const request = new Request(`https://apiserver${path(version)}/${name}`, {
        headers: { accept: protobufType },
      });
      const response = await server.handlerFor(admin)(request);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const expected = { apiVersion: `autoscaling/${version}`, kind, type: typeOf(version) };
      return decodeProtobuf(bytes, expected) as unknown as Shown;
    };
    for (const [version, body] of [
      ['v1', inV1({ targetCPUUtilizationPercentage: 50 })],
      ['v2', inV2({ metrics: [cpu] })],
    ] as const) {
      const raw = encodeMessage(named(version, body), typeOf(version));
      const bytes = envelope({ apiVersion: `autoscaling/${version}`, kind, raw });
      const answer = await server.call('POST', path(version), bytes, {
        headers: { 'content-type': protobufType },
      });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual((await read('v2', version)).spec.metrics, [cpu]);
      assert.equal((await read('v1', version)).spec.targetCPUUtilizationPercentage, 50);
    }
  });
});
