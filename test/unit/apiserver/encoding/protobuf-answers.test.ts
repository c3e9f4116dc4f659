/**
 * Answers that are made in JSON and sent in protobuf: the kind in their envelope, and the completeness of
 * their fields.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import { decodeMessage } from '../../../../src/apimachinery/protobuf/decode-message.ts';
import { protobufType } from '../../../../src/apimachinery/protobuf/envelope.ts';
import { eachField, WireReader } from '../../../../src/apimachinery/protobuf/reader.ts';
import { admin, startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());
beforeEach(async () => {
  for (const name of ['a', 'b']) {
    await server.call('POST', maps, { metadata: { name }, data: { of: name } });
  }
});

const messageOf = (name: string) => kubernetesMessages.typeOf(name) ?? assert.fail(name);

/** Returns the kind in the envelope, and the bytes of the message. */
async function ask(method: string, path: string, accept = protobufType) {
  const request = new Request(`https://apiserver${path}`, { method, headers: { accept } });
  const response = await server.handlerFor(admin)(request);
  assert.equal(response.headers.get('content-type'), protobufType);
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.equal(Buffer.from(bytes.subarray(0, 4)).toString(), 'k8s\0');
  const found = {
    status: response.status,
    kind: '',
    apiVersion: '',
    message: new Uint8Array() as Uint8Array,
  };
  eachField(new WireReader(bytes.subarray(4)), {
    1: (reader, wire) =>
      eachField(reader.within(wire), {
        1: (inner, innerWire) => {
          found.apiVersion = inner.string(innerWire);
        },
        2: (inner, innerWire) => {
          found.kind = inner.string(innerWire);
        },
      }),
    2: (reader, wire) => {
      found.message = reader.bytes(wire);
    },
  });
  return found;
}

test('the answer to a deletion of a collection is a list of its objects', async () => {
  const { status, kind, apiVersion, message } = await ask('DELETE', maps);
  assert.deepEqual([status, kind, apiVersion], [200, 'ConfigMapList', 'v1']);
  const items: unknown[] = [];
  let metadata: { readonly resourceVersion?: string } = {};
  eachField(new WireReader(message), {
    1: (reader, wire) => {
      metadata = decodeMessage(reader.bytes(wire), messageOf('meta.v1.ListMeta'));
    },
    2: (reader, wire) => {
      items.push(decodeMessage(reader.bytes(wire), messageOf('core.v1.ConfigMap')).data);
    },
  });
  assert.match(metadata.resourceVersion ?? '', /^\d+$/);
  assert.deepEqual(items, [{ of: 'a' }, { of: 'b' }]);
});

test('the envelope has the kind of the object, PartialObjectMetadata, or Status for an error', async () => {
  const object = await ask('GET', `${maps}/a`);
  assert.deepEqual([object.status, object.kind, object.apiVersion], [200, 'ConfigMap', 'v1']);
  assert.deepEqual(decodeMessage(object.message, messageOf('core.v1.ConfigMap')).data, { of: 'a' });
  const partial = await ask(
    'GET',
    `${maps}/a`,
    `${protobufType};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
  );
  assert.deepEqual([partial.kind, partial.apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1']);
  const { metadata, data } = decodeMessage(partial.message, messageOf('core.v1.ConfigMap'));
  assert.deepEqual([(metadata as { name: string }).name, data], ['a', undefined]);
  const refused = await ask('GET', `${maps}/none`);
  assert.deepEqual([refused.status, refused.kind], [404, 'Status']);
  const { message, code } = decodeMessage(refused.message, messageOf('meta.v1.Status'));
  assert.deepEqual([message, code], ['configmaps "none" not found', 404]);
  const gone = await ask('DELETE', `${maps}/a`);
  assert.deepEqual([gone.status, gone.kind], [200, 'Status']);
});

test('an error is sent as JSON to clients that accept no supported type', async () => {
  for (const accept of ['text/html', `${protobufType};as=Table;g=meta.k8s.io;v=v1`]) {
    const answer = await server.call('GET', `${maps}/b`, undefined, { headers: { accept } });
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [406, 'application/json']);
  }
});
