/** Tables that `kubectl get` prints. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import type { Status } from '../../../../src/apimachinery/status-error.ts';
import { tableEncoder } from '../../../../src/apiserver/encoding/table.ts';
import { registry } from '../../../../src/features/kinds.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

interface Table {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly columnDefinitions: readonly Record<string, unknown>[];
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly conditions?: readonly object[];
    readonly object?: { readonly kind: string; readonly apiVersion: string; readonly metadata: object };
  }[];
}

const pods = '/api/v1/namespaces/default/pods';
let server: TestServer;
before(async () => {
  server = await startTestServer();
  const headers = { 'content-type': 'application/merge-patch+json' };
  for (const phase of ['Running', 'Succeeded', 'Failed']) {
    const name = phase.toLowerCase();
    const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' };
    await server.call('POST', pods, { metadata: { name }, spec });
    await server.call('PATCH', `${pods}/${name}/status`, { status: { phase } }, { headers });
  }
  await server.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'failed' } });
});
after(() => server.stop());

async function tableOf(path: string, version = 'v1'): Promise<Table> {
  const accept = `application/json;as=Table;g=meta.k8s.io;v=${version}`;
  const answer = await server.call('GET', path, undefined, { headers: { accept } });
  assert.equal(answer.status, 200, answer.text);
  return answer.json<Table>();
}

test('the head has the version of the table, and all attributes of the columns', async () => {
  for (const version of ['v1', 'v1beta1'])
    for (const path of [pods, `${pods}/failed`]) {
      const { kind, apiVersion, columnDefinitions, rows } = await tableOf(path, version);
      assert.deepEqual([kind, apiVersion], ['Table', `meta.k8s.io/${version}`]);
      for (const column of columnDefinitions) {
        assert.deepEqual(Object.keys(column).sort(), ['description', 'format', 'name', 'priority', 'type']);
      }
      assert.deepEqual(
        columnDefinitions
          .slice(0, 2)
          .map(({ name, type, format, priority }) => [name, type, format, priority]),
        [
          ['Name', 'string', 'name', 0],
          ['Ready', 'string', '', 0],
        ],
      );
      // The column is only shown with `-o wide`.
      assert.equal(columnDefinitions.find(({ name }) => name === 'IP')?.priority, 1);
      for (const { cells, object } of rows) {
        assert.equal(cells.length, columnDefinitions.length);
        assert.deepEqual(
          [object?.kind, object?.apiVersion],
          ['PartialObjectMetadata', `meta.k8s.io/${version}`],
        );
      }
    }
});

test('only the row of an ended pod has the condition Completed', async () => {
  const { rows } = await tableOf(pods);
  assert.deepEqual(
    rows.map(({ cells, conditions }) => [cells[0], conditions]),
    [
      ['failed', [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }]],
      ['running', undefined],
      [
        'succeeded',
        [
          {
            type: 'Completed',
            status: 'True',
            reason: 'Succeeded',
            message: 'The pod has completed successfully.',
          },
        ],
      ],
    ],
  );
  const maps = await tableOf('/api/v1/namespaces/default/configmaps');
  assert.deepEqual(
    maps.rows.map((row) => Object.keys(row)),
    [['cells', 'object']],
  );
});

test('rows leave out managedFields only if the client says that it ignores them', async () => {
  for (const parameter of ['', ';managedFields=none'])
    for (const include of ['Metadata', 'Object']) {
      const headers = { accept: `application/json;as=Table;g=meta.k8s.io;v=v1${parameter}` };
      const path = `${pods}/failed?includeObject=${include}`;
      const { rows } = (await server.call('GET', path, undefined, { headers })).json<Table>();
      const metadata = rows[0]?.object?.metadata ?? assert.fail('the row has an object');
      assert.equal('managedFields' in metadata, parameter === '', `${include}${parameter}`);
      assert.equal('name' in metadata, true);
    }
});

describe('each row of a table has', () => {
  for (const [query, kind] of [
    ['', 'PartialObjectMetadata'],
    ['?includeObject=', 'PartialObjectMetadata'],
    ['?includeObject=Metadata', 'PartialObjectMetadata'],
    ['?includeObject=Object', 'Pod'],
    ['?includeObject=None', undefined],
  ] as const)
    test(`${kind ?? 'no object'} with ${query || 'the default parameters'}`, async () => {
      for (const path of [pods, `${pods}/failed`]) {
        const { rows } = await tableOf(`${path}${query}`);
        for (const row of rows) {
          assert.equal(row.object?.kind, kind);
          assert.equal('object' in row, kind !== undefined);
        }
      }
    });

  test('no unknown fields', async () => {
    for (const path of [pods, `${pods}/failed`]) {
      const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
      const answer = await server.call('GET', `${path}?includeObject=All`, undefined, { headers });
      assert.equal(answer.status, 400);
      assert.equal(answer.json<Status>().message, 'unrecognized includeObject value: "All"');
    }
  });
});

test('a row of an object that only resembles such a pod has no condition', () => {
  const [pod, volume] = [podResource, persistentVolumeResource].map((kind) => ({
    ...kind,
    columns: [],
  })) as unknown as ResourceDefinition[];
  const conditions = (definition: ResourceDefinition | undefined, status: object | undefined) => {
    assert.ok(definition);
    const object = { apiVersion: 'v1', kind: definition.kind, metadata: {}, status };
    const form = { definition, version: 'v1', include: 'None', isUnowned: false, now: () => 0 } as const;
    const made = tableEncoder(form).object({ object: object as unknown as KubeObject });
    return (JSON.parse(String(made)) as Table).rows[0]?.conditions;
  };
  assert.ok(conditions(pod, { phase: 'Failed' }));
  assert.equal(conditions(volume, { phase: 'Failed' }), undefined);
  assert.equal(conditions(pod, undefined), undefined);
});

test('every stored kind has the columns that kubectl needs', () => {
  for (const { kind, isReview, columns } of registry) {
    if (isReview) continue;
    assert.ok(
      columns.some(({ format, type }) => format === 'name' && type === 'string'),
      kind,
    );
  }
});
