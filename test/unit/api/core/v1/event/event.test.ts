/**
 * Events of both groups are the same objects: an event that is written in one is read in the other, and the
 * newer group requires more fields.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventResource } from '../../../../../../src/api/core/v1/event/event.ts';
import { eventsV1Resource } from '../../../../../../src/api/events/v1/event.ts';
import { convertObject } from '../../../../../../src/apimachinery/decode.ts';
import type { KubeObject } from '../../../../../../src/apimachinery/meta.ts';
import { asServed } from '../../../../../../src/apimachinery/served-version.ts';
import { StatusError } from '../../../../../../src/apimachinery/status-error.ts';
import { kindFields } from '../../../../../../src/features/kinds.ts';
import { frameObject } from '../../../../../../src/storage/codec.ts';
import { startTestServer } from '../../../../../fixtures/api-server.ts';
import { framingOf } from '../../../../../fixtures/framing.ts';

const collection = '/apis/events.k8s.io/v1/namespaces/default/events';
const core = '/api/v1/namespaces/default/events';
const eventTime = '2026-01-01T00:00:00.123456Z';

const newer = {
  metadata: { name: 'a', namespace: 'default' },
  eventTime,
  series: { count: 2, lastObservedTime: eventTime },
  reportingController: 'example.com/controller',
  reportingInstance: 'controller-0',
  action: 'Start',
  reason: 'Started',
  regarding: { kind: 'Pod', namespace: 'default', name: 'web', fieldPath: 'spec' },
  related: { kind: 'Node', name: 'n1' },
  note: 'it runs',
  type: 'Normal',
};

const older = {
  metadata: { name: 'b', namespace: 'default' },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
  reason: 'Pulled',
  message: 'pulled the image',
  source: { component: 'kubelet', host: 'n1' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:01:00Z',
  count: 3,
  type: 'Warning',
};

const decode = (definition: typeof eventResource, body: object) =>
  convertObject(kindFields, definition, body, 'Strict').object as unknown as KubeObject;

test('an event of events.k8s.io is stored in the core group and read back unchanged', () => {
  const stored = decode(eventsV1Resource, newer);
  assert.deepEqual(
    { ...stored, metadata: undefined },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: undefined,
      eventTime,
      series: newer.series,
      action: 'Start',
      reason: 'Started',
      related: newer.related,
      type: 'Normal',
      involvedObject: newer.regarding,
      message: 'it runs',
      source: {},
      reportingComponent: 'example.com/controller',
      reportingInstance: 'controller-0',
    },
  );
  const { apiVersion, kind, metadata: _, ...rest } = asServed(eventsV1Resource as never, stored);
  const { metadata: __, ...sent } = newer;
  assert.deepEqual([apiVersion, kind, rest], ['events.k8s.io/v1', 'Event', sent]);
});

test('an event of the core group is served by events.k8s.io with the deprecated fields', () => {
  const { metadata: _, ...shown } = asServed(eventsV1Resource as never, decode(eventResource, older));
  assert.deepEqual(shown, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    reason: 'Pulled',
    type: 'Warning',
    regarding: older.involvedObject,
    note: 'pulled the image',
    deprecatedSource: older.source,
    deprecatedFirstTimestamp: older.firstTimestamp,
    deprecatedLastTimestamp: older.lastTimestamp,
    deprecatedCount: 3,
  });
});

describe('the newer group', () => {
  const causes = (text: string) =>
    JSON.parse(text).details?.causes?.map(
      (cause: { field: string; message: string }) => `${cause.field}: ${cause.message}`,
    );

  for (const [title, change, expected] of [
    ['an event', {}, undefined],
    ['a warning', { type: 'Warning' }, undefined],
    ['an event without a time', { eventTime: null }, ['eventTime: Required value']],
    ['another type', { type: 'Bad' }, ['type: Invalid value: "": has invalid value: Bad']],
    ['no type', { type: null }, ['type: Invalid value: "": has invalid value: ']],
    [
      'the deprecated first time',
      { deprecatedFirstTimestamp: eventTime },
      ['firstTimestamp: Invalid value: "": needs to be unset'],
    ],
    [
      'the deprecated last time',
      { deprecatedLastTimestamp: eventTime },
      ['lastTimestamp: Invalid value: "": needs to be unset'],
    ],
    ['a count', { deprecatedCount: 1 }, ['count: Invalid value: "": needs to be unset']],
    ['a source', { deprecatedSource: { component: 'x' } }, ['source: Invalid value: "": needs to be unset']],
    [
      'the deprecated source',
      { deprecatedSource: { host: 'x' } },
      ['source: Invalid value: "": needs to be unset'],
    ],
    [
      'a series with a count of one',
      { series: { count: 1, lastObservedTime: eventTime } },
      ['series.count: Invalid value: "": should be at least 2'],
    ],
    ['a series without a last time', { series: { count: 2 } }, ['series.lastObservedTime: Required value']],
  ] as const)
    test(`${expected ? 'rejects' : 'accepts'} ${title}`, async () => {
      const server = await startTestServer();
      try {
        const answer = await server.call('POST', collection, { ...newer, ...change });
        assert.equal(answer.status, expected ? 422 : 201, answer.text);
        assert.deepEqual(causes(answer.text), expected);
      } finally {
        await server.stop();
      }
    });

  test('allows only updates of the series', async () => {
    const server = await startTestServer();
    try {
      await server.call('POST', collection, newer);
      const on = { series: { count: 3, lastObservedTime: eventTime } };
      const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
      const gone = await server.call('PATCH', `${collection}/a`, on, merge);
      assert.equal(gone.status, 200, gone.text);
      for (const [patch, field] of [
        [{ note: 'x' }, 'message'],
        [{ reason: 'x' }, 'reason'],
        [{ action: 'x' }, 'action'],
        [{ type: 'Warning' }, 'type'],
        [{ eventTime: '2027-01-01T00:00:00.000000Z' }, 'eventTime'],
        [{ regarding: { uid: 'x' } }, 'involvedObject'],
        [{ related: null }, 'related'],
        [{ reportingController: 'x' }, 'reportingController'],
        [{ reportingInstance: 'x' }, 'reportingInstance'],
        [{ deprecatedCount: 1 }, 'count'],
        [{ deprecatedSource: { host: 'x' } }, 'source'],
        [{ deprecatedFirstTimestamp: eventTime }, 'firstTimestamp'],
        [{ deprecatedLastTimestamp: eventTime }, 'lastTimestamp'],
      ] as const) {
        const answer = await server.call('PATCH', `${collection}/a`, patch, merge);
        assert.equal(answer.status, 422, `${field}: ${answer.text}`);
        assert.match(causes(answer.text)?.join() ?? '', new RegExp(`^${field}: .*field is immutable`));
      }
      // The older group has no such rule.
      assert.equal((await server.call('PATCH', `${core}/a`, { message: 'x' }, merge)).status, 200);
    } finally {
      await server.stop();
    }
  });
});

test('each group serves the events of both groups in every format, under its own names', async () => {
  const server = await startTestServer();
  try {
    assert.equal((await server.call('POST', collection, newer)).status, 201);
    assert.equal((await server.call('POST', core, older)).status, 201);
    const names = (text: string) =>
      JSON.parse(text).items.map((item: KubeObject) => `${item.apiVersion} ${item.metadata.name}`);
    const inNewer = await server.call('GET', collection);
    assert.deepEqual(names(inNewer.text), ['events.k8s.io/v1 a', 'events.k8s.io/v1 b']);
    assert.equal(JSON.parse(inNewer.text).apiVersion, 'events.k8s.io/v1');
    assert.deepEqual(names((await server.call('GET', core)).text), ['v1 a', 'v1 b']);
    const selected = await server.call(
      'GET',
      `${collection}?fieldSelector=regarding.fieldPath%3Dspec,reportingController%3Dexample.com%2Fcontroller`,
    );
    assert.deepEqual(names(selected.text), ['events.k8s.io/v1 a']);
    for (const [path, field] of [
      [collection, 'involvedObject.name'],
      [collection, 'reportingComponent'],
      [core, 'regarding.name'],
    ] as const)
      assert.equal((await server.call('GET', `${path}?fieldSelector=${field}%3Dx`)).status, 400, field);
    const one = (await server.call('GET', `${collection}/b`)).json<typeof newer>();
    assert.equal(one.note, 'pulled the image');
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const rows = await server.call('GET', `${collection}?includeObject=Object`, undefined, {
      headers: { accept },
    });
    assert.deepEqual(
      rows
        .json<{ rows: { cells: unknown[]; object: { note: string } }[] }>()
        .rows.map(({ cells, object }) => [cells[2], object.note]),
      [
        ['Started', 'it runs'],
        ['Pulled', 'pulled the image'],
      ],
    );
    const put = await server.call('PUT', `${collection}/a`, {
      ...newer,
      series: { count: 9, lastObservedTime: eventTime },
    });
    assert.equal(put.json<typeof newer>().series.count, 9, put.text);
    const gone = await server.call('DELETE', `${collection}/a`);
    assert.equal(gone.json<{ details: { group: string } }>().details.group, 'events.k8s.io');
    assert.equal((await server.call('GET', `${core}/a`)).status, 404);
    const rest = await server.call('DELETE', collection);
    assert.deepEqual(names(rest.text), ['events.k8s.io/v1 b']);
  } finally {
    await server.stop();
  }
});

test('the events of a watch in the newer group have the field names of the group, and are converted once for all watches', () => {
  const object = { ...decode(eventResource, older) };
  object.metadata = {
    ...object.metadata,
    uid: 'u',
    creationTimestamp: '2026-01-01T00:00:00Z',
    resourceVersion: '6',
  };
  const bytes = Buffer.from(JSON.stringify(object));
  const current = { key: '/registry/events/default/b', revision: 6, bytes, object, unowned: object };
  const { frame } = frameObject('ADDED', bytes, 6);
  const event = {
    type: 'ADDED',
    key: current.key,
    revision: 6,
    current,
    previous: undefined,
    frame,
  } as const;
  const framing = () => framingOf(eventsV1Resource as never, { type: 'object' });
  const sent = framing().unchanged(event);
  const { type, object: shown } = JSON.parse(sent.toString());
  assert.deepEqual(
    [type, shown.apiVersion, shown.note, shown.metadata.resourceVersion],
    ['ADDED', 'events.k8s.io/v1', 'pulled the image', '6'],
  );
  assert.equal(framing().unchanged(event), sent);
  const later = JSON.parse(framing().frame('DELETED', current, 9).toString());
  assert.deepEqual(
    [later.type, later.object.note, later.object.metadata.resourceVersion],
    ['DELETED', 'pulled the image', '9'],
  );
  assert.equal(JSON.parse(framing().bookmark(7).toString()).object.apiVersion, 'events.k8s.io/v1');
  const binary = framingOf(eventsV1Resource as never, { type: 'object', encoding: 'protobuf' });
  assert.match(binary.unchanged(event).toString('latin1'), /events\.k8s\.io\/v1.*Event/s);
});

test('a field of the core group is rejected as unknown in events.k8s.io', async () => {
  assert.throws(
    () => decode(eventsV1Resource, { ...newer, involvedObject: {} }),
    (error) => error instanceof StatusError && /unknown field "involvedObject"/.test(error.message),
  );
});
