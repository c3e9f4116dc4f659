import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { parseLabelSelector } from '../../../../src/apimachinery/labels.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { newExpired } from '../../../../src/apimachinery/status-error.ts';
import { frameOf } from '../../../../src/apiserver/encoding/framing.ts';
import { selectionOf } from '../../../../src/apiserver/reads/selection.ts';
import type { CachedObject, CacheEvent } from '../../../../src/storage/cache.ts';
import { frameObject } from '../../../../src/storage/codec.ts';
import { framingOf } from '../../../fixtures/framing.ts';

const definition = configMapResource as unknown as ResourceDefinition;

const cached = (on: boolean, revision: number): CachedObject => {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      resourceVersion: String(revision),
      name: 'x',
      namespace: 'default',
      uid: 'u',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { on: String(on) },
    },
  };
  return {
    key: '/registry/configmaps/default/x',
    revision,
    bytes: Buffer.from(JSON.stringify(object)),
    object,
    unowned: object,
  };
};

const event = (type: CacheEvent['type'], before: boolean | undefined, after: boolean): CacheEvent => {
  const previous = before === undefined ? undefined : cached(before, 5);
  const current = cached(after, 6);
  const { frame } = frameObject(type, current.bytes, 6);
  return { type, key: current.key, revision: 6, current, previous, frame };
};

describe('the events of a watch with a selector', () => {
  const selection = selectionOf(definition, 'default', {
    labelSelector: parseLabelSelector('on=true'),
    fieldSelector: [],
  });
  const framing = framingOf(definition, { type: 'object' });
  const cases: readonly [CacheEvent['type'], boolean | undefined, boolean, string | undefined, string][] = [
    ['ADDED', undefined, true, 'ADDED', 'true'],
    ['ADDED', undefined, false, undefined, ''],
    ['MODIFIED', true, true, 'MODIFIED', 'true'],
    ['MODIFIED', false, true, 'ADDED', 'true'],
    ['MODIFIED', true, false, 'DELETED', 'true'],
    ['MODIFIED', false, false, undefined, ''],
    ['DELETED', true, true, 'DELETED', 'true'],
    ['DELETED', false, false, undefined, ''],
    ['DELETED', undefined, true, 'DELETED', 'true'],
  ];
  for (const [type, before, after, seen, label] of cases) {
    it(`${type} from ${before} to ${after} is ${seen ?? 'nothing'}`, () => {
      const frame = frameOf(event(type, before, after), selection, framing);
      if (seen === undefined) return assert.equal(frame, undefined);
      const line = JSON.parse(frame?.toString() ?? '');
      assert.equal(line.type, seen);
      assert.equal(line.object.metadata.resourceVersion, '6');
      assert.equal(line.object.metadata.labels.on, label);
    });
  }

  it('are the bytes of the cache if the event is unchanged', () => {
    for (const made of [
      event('MODIFIED', true, true),
      event('ADDED', undefined, true),
      event('DELETED', true, true),
    ])
      assert.equal(frameOf(made, selection, framing), made.frame);
  });

  it('include bookmarks, and the error at the end', () => {
    const bookmark = JSON.parse(framing.bookmark(9, { 'k8s.io/initial-events-end': 'true' }).toString());
    assert.deepEqual(bookmark, {
      type: 'BOOKMARK',
      object: {
        ...{ kind: 'ConfigMap', apiVersion: 'v1' },
        metadata: {
          ...{ resourceVersion: '9', creationTimestamp: null },
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
      },
    });
    const { status } = newExpired('too old');
    for (const form of [
      { type: 'object' },
      { type: 'metadata', version: 'v1' },
      { type: 'table', version: 'v1' },
    ] as const) {
      const { error, contentType } = framingOf(definition, form);
      assert.equal(contentType, 'application/json');
      assert.deepEqual(JSON.parse(error(status).toString()), { type: 'ERROR', object: status });
    }
  });

  it('are tables, with the columns only in the first', () => {
    const framing = framingOf(definition, { type: 'table', version: 'v1' }, 'Object');
    const read = (frame: Buffer) => JSON.parse(frame.toString());
    const first = read(framing.unchanged(event('ADDED', undefined, true)));
    assert.equal(first.type, 'ADDED');
    const { columnDefinitions, rows, ...head } = first.object;
    assert.deepEqual(head, {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '6' },
    });
    assert.equal(columnDefinitions[0].name, 'Name');
    assert.deepEqual([rows[0].cells[0], rows[0].cells.at(-1)], ['x', '24h']);
    assert.equal(rows[0].object.metadata.resourceVersion, '6');
    const left = read(framing.frame('DELETED', cached(true, 5), 7));
    assert.deepEqual([left.type, left.object.columnDefinitions], ['DELETED', null]);
    assert.equal(left.object.metadata.resourceVersion, '7');
    assert.equal(left.object.rows[0].object.metadata.resourceVersion, '7');
    const bookmark = read(framing.bookmark(9));
    assert.deepEqual([bookmark.type, bookmark.object.rows], ['BOOKMARK', []]);
    assert.deepEqual(bookmark.object.metadata, { resourceVersion: '9', creationTimestamp: null });
  });

  it('are metadata only, encoded once for all watches', () => {
    const framings = [1, 2].map(() => framingOf(definition, { type: 'metadata', version: 'v1' }));
    const [metadata, other] = framings;
    assert.ok(metadata && other);
    const made = event('MODIFIED', true, true);
    const line = JSON.parse(metadata.unchanged(made).toString());
    assert.deepEqual(line.object, {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: made.current.object.metadata,
    });
    assert.equal(other.unchanged(made), metadata.unchanged(made));
    const left = JSON.parse(metadata.frame('DELETED', cached(true, 5), 6).toString());
    assert.equal(left.object.metadata.resourceVersion, '6');
    const bookmark = JSON.parse(metadata.bookmark(9).toString());
    assert.deepEqual(bookmark.object.metadata, { resourceVersion: '9', creationTimestamp: null });
    assert.equal(bookmark.object.kind, 'PartialObjectMetadata');
    assert.equal(bookmark.type, 'BOOKMARK');
    const beta = framingOf(definition, { type: 'metadata', version: 'v1beta1' });
    assert.equal(JSON.parse(beta.unchanged(made).toString()).object.apiVersion, 'meta.k8s.io/v1beta1');
  });
});

describe('frames in protobuf', () => {
  const framing = framingOf(definition, { type: 'object', encoding: 'protobuf' });

  it('begin with their length and are encoded once for all watches', () => {
    const added = event('ADDED', undefined, true);
    const frame = framing.unchanged(added);
    assert.equal(frame.readUInt32BE(0), frame.length - 4);
    assert.equal(framing.unchanged(added), frame);
  });

  it('differ between metadata and objects', () => {
    const form = { type: 'metadata', version: 'v1', encoding: 'protobuf' } as const;
    const added = event('ADDED', undefined, true);
    const metadata = framingOf(definition, form).unchanged(added);
    assert.ok(metadata.includes('PartialObjectMetadata') && metadata.includes('meta.k8s.io/v1'));
    assert.notDeepEqual(metadata, framing.unchanged(added));
  });

  it('contain an error as a Status', () => {
    const frame = framing.error(newExpired('too old').status);
    assert.ok(frame.includes('ERROR') && frame.includes('Status') && frame.includes('too old'));
  });
});
