import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeLines } from '../../../../src/api/kubernetes-types.gen.ts';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import { decodeMessage } from '../../../../src/apimachinery/protobuf/decode-message.ts';
import { encodeMessage as writeMessage } from '../../../../src/apimachinery/protobuf/encode-message.ts';
import { decodeProtobuf, protobufType } from '../../../../src/apimachinery/protobuf/envelope.ts';
import { createMessageTable, type MessageType } from '../../../../src/apimachinery/protobuf/message-types.ts';
import { ProtobufError } from '../../../../src/apimachinery/protobuf/reader.ts';
import { WireWriter } from '../../../../src/apimachinery/protobuf/writer.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { createTypeTable } from '../../../../src/apimachinery/type-table.ts';
import { depthOf, every, random, sampleOf } from '../../../fixtures/protobuf-samples.ts';
import {
  encodeMessage,
  envelope,
  integer,
  lengthDelimited,
  tag,
  text,
  varint,
} from '../../../fixtures/protobuf-writer.ts';

function messageOf(name: string): MessageType {
  const type = kubernetesMessages.typeOf(name);
  assert.ok(type, name);
  return type;
}

const decode = (name: string, ...bytes: (readonly number[])[]) =>
  decodeMessage(Uint8Array.from(bytes.flat()), messageOf(name));

function roundTrip(type: MessageType, times: number): void {
  for (let i = 0; i < times; i++) {
    const value = sampleOf(type, depthOf(type));
    assert.deepEqual(decodeMessage(Uint8Array.from(encodeMessage(value, type)), type), value, type.name);
  }
}

test('random objects of every type are read back identically', () => {
  roundTrip(every, 50);
  for (const name of Object.keys(typeLines)) {
    const type = kubernetesMessages.typeOf(name);
    if (type) roundTrip(type, 3);
  }
});

test('a schema may be of items or of each item, or a boolean, as JSON has it', () => {
  const type = messageOf('apiextensions.v1.JSONSchemaProps');
  const inner = { type: 'string', maxLength: 3 };
  for (const schema of [
    { items: inner },
    { items: [inner, { type: 'integer' }] },
    { additionalProperties: true },
    { additionalProperties: false },
    { additionalProperties: inner, properties: { a: { default: [1, null], enum: ['x', 2] } } },
    { dependencies: { a: inner, b: ['c', 'd'] } },
  ]) {
    const writer = new WireWriter();
    writeMessage(writer, schema, type);
    assert.deepEqual(decodeMessage(Uint8Array.from(writer.finish()), type), schema);
    assert.deepEqual(decodeMessage(Uint8Array.from(encodeMessage(schema, type)), type), schema);
  }
});

function largePod(): Uint8Array {
  const pod = messageOf('core.v1.Pod');
  for (;;) {
    const bytes = Uint8Array.from(encodeMessage(sampleOf(pod, 5), pod));
    if (bytes.length > 2000) return bytes;
  }
}

test('a message that is truncated at any byte is decoded or rejected without another error', () => {
  const bytes = largePod();
  let refused = 0;
  for (let length = 0; length < bytes.length; length += 1 + Math.floor(bytes.length / 2000)) {
    try {
      decodeMessage(bytes.subarray(0, length), messageOf('core.v1.Pod'));
    } catch (error) {
      assert.ok(error instanceof ProtobufError, String(error));
      refused++;
    }
  }
  assert.ok(refused > 10);
});

test('a message with randomly changed bytes is decoded or rejected without another error', () => {
  const pod = messageOf('core.v1.Pod');
  const original = largePod();
  let refused = 0;
  for (let i = 0; i < 500; i++) {
    const bytes = original.slice();
    for (let changes = 0; changes < 3; changes++) bytes[random.below(bytes.length)] = random.below(256);
    try {
      decodeMessage(bytes, pod);
    } catch (error) {
      assert.ok(error instanceof ProtobufError, String(error));
      assert.ok(!error.message.includes('\n'));
      refused++;
    }
  }
  assert.ok(refused > 10);
});

test('a zero that Go always writes is absent, one behind a pointer is kept', () => {
  assert.deepEqual(
    decode('apps.v1.DeploymentSpec', integer(1, 0), integer(5, 0), integer(7, 0), integer(9, 0)),
    {
      replicas: 0,
      progressDeadlineSeconds: 0,
    },
  );
  assert.deepEqual(decode('apps.v1.DeploymentSpec', integer(5, 3), integer(5, 0)), {});
  assert.deepEqual(decode('core.v1.EnvVar', text(1, ''), text(2, '')), { name: '' });
  assert.deepEqual(decode('core.v1.PodSpec', integer(11, 0), integer(21, 0)), {
    automountServiceAccountToken: false,
  });
});

test('empty messages are empty objects, empty times are absent', () => {
  assert.deepEqual(decode('apps.v1.Deployment', lengthDelimited(2, []), lengthDelimited(3, [])), {
    spec: {},
    status: {},
  });
  assert.deepEqual(decode('meta.v1.ObjectMeta', text(1, 'x'), lengthDelimited(8, [])), { name: 'x' });
  assert.deepEqual(decode('core.v1.Event', lengthDelimited(6, []), lengthDelimited(10, [])), {});
});

test('embedded parts are fields of their parent', () => {
  const secret = lengthDelimited(6, text(1, 'token'));
  assert.deepEqual(decode('core.v1.Volume', text(1, 'v'), lengthDelimited(2, secret)), {
    name: 'v',
    secret: { secretName: 'token' },
  });
  const httpGet = lengthDelimited(2, [...text(1, '/'), ...lengthDelimited(2, integer(2, 80))]);
  assert.deepEqual(decode('core.v1.Probe', lengthDelimited(1, httpGet), integer(2, 5)), {
    httpGet: { path: '/', port: 80 },
    initialDelaySeconds: 5,
  });
  assert.deepEqual(decode('core.v1.ConfigMapEnvSource', lengthDelimited(1, text(1, 'c')), integer(2, 0)), {
    name: 'c',
    optional: false,
  });
});

test('if fields are repeated, the last scalar is used, messages are merged, and lists and maps are extended', () => {
  assert.deepEqual(
    decode(
      'meta.v1.ObjectMeta',
      text(1, 'a'),
      text(1, 'b'),
      text(14, 'x'),
      text(14, 'x'),
      ...['1', '2'].map((value) => lengthDelimited(11, [...text(1, 'k'), ...text(2, value)])),
    ),
    { name: 'b', finalizers: ['x', 'x'], labels: { k: '2' } },
  );
  assert.deepEqual(
    decode('apps.v1.Deployment', lengthDelimited(2, integer(1, 3)), lengthDelimited(2, integer(9, 60))),
    { spec: { replicas: 3, progressDeadlineSeconds: 60 } },
  );
});

test('numbers in a list may be packed or not', () => {
  const packed = lengthDelimited(14, [...varint(1), ...varint(-2), ...varint(300)]);
  const doubles = lengthDelimited(15, [...new Uint8Array(Float64Array.of(1.5, 2.5).buffer)]);
  assert.deepEqual(decodeMessage(Uint8Array.from([...packed, ...integer(14, 4), ...doubles]), every), {
    counts: [1, -2, 300, 4],
    ratios: [1.5, 2.5],
  });
});

/** Status 413, whatever the message contains. */
const tooMany = (error: unknown) => error instanceof StatusError && error.status.code === 413;

test('packed and unpacked values are equal', () => {
  const packed = (count: number) => Uint8Array.from(lengthDelimited(14, Array(count).fill(1)));
  const { counts } = decodeMessage(packed(29_000), every);
  assert.equal((counts as number[]).length, 29_000);
  assert.throws(() => decodeMessage(packed(31_000), every), tooMany);
});

test('values of embedded JSON are counted like other values', () => {
  const fields = (json: string) => lengthDelimited(7, text(1, json));
  const half = fields(JSON.stringify(Array(16_000).fill(0)));
  assert.ok(decode('meta.v1.ManagedFieldsEntry', half));
  assert.throws(() => decode('meta.v1.ManagedFieldsEntry', half, half), tooMany);
});

test('a missing part of a map entry is zero, and keys such as __proto__ are ordinary', () => {
  assert.deepEqual(
    decodeMessage(
      Uint8Array.from([16, 17, 18, 19, 22, 24].flatMap((number) => lengthDelimited(number, text(1, 'k')))),
      every,
    ),
    {
      labels: { k: '' },
      blobs: { k: '' },
      sizes: { k: '0' },
      extra: { k: [] },
      byName: { k: {} },
      times: { k: null },
    },
  );
  assert.deepEqual(decode('core.v1.ConfigMap', lengthDelimited(2, [])), { data: { '': '' } });
  const { data } = decode(
    'core.v1.ConfigMap',
    lengthDelimited(2, [...text(1, '__proto__'), ...text(2, 'x')]),
  );
  assert.deepEqual(Object.entries(data as object), [['__proto__', 'x']]);
  assert.equal(Object.getPrototypeOf(data), Object.prototype);
});

test('fields without a number are skipped', () => {
  assert.deepEqual(
    decode('core.v1.ConfigMap', integer(99, 1), integer(4, 1), tag(98, 3), text(1, 'x'), tag(98, 4)),
    { immutable: true },
  );
});

test('embedded JSON is kept unchanged, and rejected if it is invalid', () => {
  const fields = (json: string) => decode('meta.v1.ManagedFieldsEntry', lengthDelimited(7, text(1, json)));
  assert.deepEqual(fields('{"f:spec":{}}'), { fieldsV1: { 'f:spec': {} } });
  assert.deepEqual(decode('meta.v1.ManagedFieldsEntry', lengthDelimited(7, [])), { fieldsV1: null });
  assert.throws(() => fields('{'), { name: 'ProtobufError', message: /^fieldsV1: invalid JSON/ });
  assert.throws(() => fields('['.repeat(600) + ']'.repeat(600)), { message: /nested deeper/ });
});

test('errors contain the name of the field', () => {
  assert.throws(
    () =>
      decode('apps.v1.Deployment', lengthDelimited(2, lengthDelimited(3, lengthDelimited(2, integer(3, 1))))),
    {
      name: 'ProtobufError',
      message: 'spec.template.spec.restartPolicy: wire type 0 where 2 is expected',
    },
  );
});

test('deeply nested messages are rejected before they overflow the stack', () => {
  let bytes: readonly number[] = [];
  for (let i = 0; i < 90; i++) bytes = lengthDelimited(20, bytes);
  assert.ok(decodeMessage(Uint8Array.from(bytes), every));
  for (let i = 0; i < 20; i++) bytes = lengthDelimited(20, bytes);
  assert.throws(() => decodeMessage(Uint8Array.from(bytes), every), {
    message: /nested deeper than 100 levels/,
  });
});

const expected = { apiVersion: 'v1', kind: 'ConfigMap', type: messageOf('core.v1.ConfigMap') };

test('the envelope contains the type', () => {
  const raw = integer(4, 1);
  const open = (parts: Parameters<typeof envelope>[0]) => decodeProtobuf(envelope(parts), expected);
  const full = { apiVersion: 'v1', kind: 'ConfigMap' };
  assert.deepEqual(open({ ...full, raw }), { ...full, immutable: true });
  assert.deepEqual(open({ raw, contentType: protobufType }), { immutable: true });
  assert.deepEqual(open({ ...full, raw: [] }), full);
});

test('an object of another kind or version is decoded as its kind and version only', () => {
  const broken = [0xff];
  const secret = { apiVersion: 'v1', kind: 'Secret' };
  assert.deepEqual(decodeProtobuf(envelope({ ...secret, raw: broken }), expected), secret);
  const beta = { apiVersion: 'v1beta1', kind: 'ConfigMap' };
  assert.deepEqual(decodeProtobuf(envelope({ ...beta, raw: broken }), expected), beta);
  const options = { kind: 'DeleteOptions', type: messageOf('meta.v1.DeleteOptions') };
  assert.deepEqual(
    decodeProtobuf(envelope({ apiVersion: 'apps/v1', kind: 'DeleteOptions', raw: integer(1, 0) }), options),
    { apiVersion: 'apps/v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 },
  );
});

const noEnvelopes: [name: string, body: Uint8Array, expected: RegExp][] = [
  ['nothing', Uint8Array.of(), /does not begin with/],
  ['JSON', new TextEncoder().encode('{"kind":"ConfigMap"}'), /does not begin with/],
  ['half a prefix', Uint8Array.of(0x6b, 0x38), /does not begin with/],
  ['a broken envelope', Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x12, 0xff, 0x01), /ends too early/],
  [
    'a compressed object',
    envelope({ raw: [], contentEncoding: 'gzip' }),
    /the content encoding "gzip" is not known/,
  ],
  [
    'JSON in an envelope',
    envelope({ raw: [], contentType: 'application/json' }),
    /"application\/json" inside/,
  ],
  ['a broken object', envelope({ raw: [0xff] }), /ends too early/],
];
for (const [name, body, message] of noEnvelopes)
  test(`a body is rejected: ${name}`, () =>
    assert.throws(() => decodeProtobuf(body, expected), { name: 'ProtobufError', message }));

test('a type that protobuf cannot carry is refused', () => {
  const table = createMessageTable(createTypeTable({ A: '1=b:string', D: '1=d:{}{}string' }, {}));
  assert.equal(table.typeOf('A')?.fields.size, 1);
  assert.throws(() => table.typeOf('D')?.fields, /no map inside/);
  assert.equal(table.typeOf('E'), undefined);
});
