import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeLines } from '../../../../src/api/kubernetes-types.gen.ts';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import { decodeMessage } from '../../../../src/apimachinery/protobuf/decode-message.ts';
import { encodeMessage } from '../../../../src/apimachinery/protobuf/encode-message.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../../src/apimachinery/protobuf/envelope.ts';
import type { MessageType } from '../../../../src/apimachinery/protobuf/message-types.ts';
import { ProtobufError } from '../../../../src/apimachinery/protobuf/reader.ts';
import { WireWriter } from '../../../../src/apimachinery/protobuf/writer.ts';
import { depthOf, every, sampleOf } from '../../../fixtures/protobuf-samples.ts';
import { integer, lengthDelimited, text, varint } from '../../../fixtures/protobuf-writer.ts';

function messageOf(name: string): MessageType {
  const type = kubernetesMessages.typeOf(name);
  assert.ok(type, name);
  return type;
}

function encode(value: Record<string, unknown>, type: MessageType): Uint8Array {
  const writer = new WireWriter();
  encodeMessage(writer, value, type);
  return Uint8Array.from(writer.finish());
}

const bytes = (...parts: (readonly number[])[]) => Uint8Array.from(parts.flat());

test('an encoded random object of any type is decoded as that object', () => {
  const roundTrip = (type: MessageType, times: number) => {
    for (let i = 0; i < times; i++) {
      const value = sampleOf(type, depthOf(type));
      assert.deepEqual(decodeMessage(encode(value, type), type), value, type.name);
    }
  };
  roundTrip(every, 50);
  for (const name of Object.keys(typeLines)) {
    const type = kubernetesMessages.typeOf(name);
    if (type) roundTrip(type, 3);
  }
});

test('a zero behind a pointer is written, an absent or null value is not', () => {
  assert.deepEqual(
    encode({ replicas: 0, selector: null }, messageOf('apps.v1.DeploymentSpec')),
    bytes(integer(1, 0)),
  );
  assert.deepEqual(encode({}, messageOf('apps.v1.DeploymentSpec')), bytes());
  assert.deepEqual(
    encode({ securityContext: {} }, messageOf('core.v1.PodSpec')),
    bytes(lengthDelimited(14, [])),
  );
});

test('a null in a list or a map is its zero', () => {
  assert.deepEqual(
    encode({ args: [null, 'a'] }, messageOf('core.v1.Container')),
    bytes(lengthDelimited(4, []), text(4, 'a')),
  );
  assert.deepEqual(
    encode({ data: { a: null } }, messageOf('core.v1.ConfigMap')),
    bytes(lengthDelimited(2, [...text(1, 'a'), ...lengthDelimited(2, [])])),
  );
});

test('negative integers take ten bytes, as Go writes and reads them', () => {
  const written = encode({ exitCode: -1 }, messageOf('core.v1.ContainerStateTerminated'));
  assert.deepEqual(written, bytes([8], varint(-1)));
  assert.equal(written.length, 11);
});

test('times are encoded as seconds since 1970, also before it, and microseconds as nanoseconds', () => {
  const lease = (renewTime: string) => encode({ renewTime }, messageOf('coordination.v1.LeaseSpec'));
  assert.deepEqual(
    lease('2026-11-22T10:00:00.123456Z'),
    bytes(lengthDelimited(4, [...integer(1, 1_795_341_600), ...integer(2, 123_456_000)])),
  );
  assert.deepEqual(
    lease('1969-12-31T23:59:59.500000Z'),
    bytes(lengthDelimited(4, [...integer(1, -1), ...integer(2, 5e8)])),
  );
  assert.deepEqual(
    lease('2026-11-22T10:00:00.05Z'),
    bytes(lengthDelimited(4, [...integer(1, 1_795_341_600), ...integer(2, 5e7)])),
  );
  assert.throws(() => lease('yesterday'), new ProtobufError('a time is expected', ['renewTime']));
  assert.deepEqual(lease(''), bytes(), 'earlier versions stored some');
});

test('an int-or-string is encoded with its type', () => {
  const port = (value: unknown) => encode({ port: value }, messageOf('core.v1.TCPSocketAction'));
  assert.deepEqual(port(80), bytes(lengthDelimited(1, integer(2, 80))));
  assert.deepEqual(port('http'), bytes(lengthDelimited(1, [...integer(1, 1), ...text(3, 'http')])));
});

test('embedded fields are written into their part, and a part without fields is left out', () => {
  const source = messageOf('core.v1.ConfigMapEnvSource');
  assert.deepEqual(
    encode({ name: 'c', optional: true }, source),
    bytes(lengthDelimited(1, text(1, 'c')), integer(2, 1)),
  );
  assert.deepEqual(encode({ optional: true }, source), bytes(integer(2, 1)));
});

test('the same map is the same bytes, and no key is special', () => {
  const type = messageOf('core.v1.ConfigMap');
  const entry = (key: string, value: string) => lengthDelimited(2, [...text(1, key), ...text(2, value)]);
  const data = Object.fromEntries([
    ['b', '2'],
    ['__proto__', 'x'],
    ['a', '1'],
  ]);
  assert.deepEqual(encode({ data }, type), bytes(entry('__proto__', 'x'), entry('a', '1'), entry('b', '2')));
});

test('a message that is longer than the first buffer is encoded, with nested lengths of several bytes', () => {
  const value = { metadata: { name: 'x', annotations: { long: 'ä'.repeat(100_000) } }, data: { k: 'v' } };
  const type = messageOf('core.v1.ConfigMap');
  assert.deepEqual(decodeMessage(encode(value, type), type), value);
});

test('a value of another type names its field', () => {
  const refused = (value: Record<string, unknown>, name: string, message: string) =>
    assert.throws(() => encode(value, messageOf(name)), { name: 'ProtobufError', message });
  refused({ metadata: { name: 1 } }, 'core.v1.Pod', 'metadata.name: a string is expected');
  refused({ spec: [] }, 'core.v1.Pod', 'spec: an object is expected');
  refused({ spec: { containers: {} } }, 'core.v1.Pod', 'spec.containers: a list is expected');
  refused({ spec: { replicas: 1.5 } }, 'apps.v1.Deployment', 'spec.replicas: an integer is expected');
});

test('an object in its envelope is read as that object', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c' }] },
  };
  const type = messageOf('core.v1.Pod');
  assert.deepEqual(decodeProtobuf(encodeProtobuf(pod, type), { apiVersion: 'v1', kind: 'Pod', type }), pod);
});
