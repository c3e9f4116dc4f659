/**
 * Stored bytes are sent as they are stored, without decoding, where the version and the format allow that.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import type { Kept, Listing } from '../../../../src/apiserver/encoding/encoder.ts';
import { createEncoders } from '../../../../src/apiserver/encoding/encoders.ts';
import type { ResponseForm } from '../../../../src/apiserver/negotiation/accept.ts';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u' }, data: { b: 'c' } };
const bytes = Buffer.from(JSON.stringify(object));
const kept: Kept = {
  bytes,
  get object(): KubeObject {
    return assert.fail('it is decoded');
  },
};
const listing = { headers: {}, signal: new AbortController().signal, server: {} } as unknown as Listing;
const encoderFor = (form: ResponseForm) =>
  createEncoders(kubernetesMessages, () => 0).of(
    configMapResource as unknown as ResourceDefinition,
    form,
    () => 'None',
  );

test('an object and a list of objects are sent as their stored bytes', async () => {
  const encoder = encoderFor({ type: 'object' });
  assert.equal(encoder.object(kept), bytes);
  const answer = await encoder.list(listing, { resourceVersion: '7' }, [kept, kept]);
  assert.deepEqual(await answer.json(), {
    ...{ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } },
    items: [object, object],
  });
});

test('metadata is cut out of the bytes', async () => {
  const encoder = encoderFor({ type: 'metadata', version: 'v1' });
  const partial = {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: object.metadata,
  };
  assert.deepEqual(JSON.parse(String(encoder.object(kept))), partial);
  const answer = await encoder.list(listing, { resourceVersion: '7' }, [kept]);
  assert.deepEqual(((await answer.json()) as { items: object[] }).items, [partial]);
});

test('an object that was just written has no stored bytes yet', () => {
  const made = encoderFor({ type: 'object' }).object({ object: object as unknown as KubeObject });
  assert.deepEqual(JSON.parse(String(made)), object);
});
