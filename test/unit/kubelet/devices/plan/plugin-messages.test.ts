/** Answers of device plugins, as bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WireWriter } from '../../../../../src/apimachinery/protobuf/writer.ts';
import { framed } from '../../../../../src/grpc/frames.ts';
import { readAllocated, readDevices } from '../../../../../src/kubelet/devices/plan/plugin-messages.ts';

/** A message without the five bytes that gRPC puts before it. */
const message = (write: (writer: WireWriter) => void) => framed(500, write).subarray(5);
const within = (writer: WireWriter, field: number, write: () => void) => {
  const start = writer.begin(field);
  write();
  writer.end(start);
};

test('the first of several devices with the same name is used, and only Healthy is healthy', () => {
  const list = message((writer) => {
    for (const [id, health] of [
      ['a', 'Healthy'],
      ['a', 'Unhealthy'],
      ['b', 'healthy'],
      ['c', ''],
    ] as const)
      within(writer, 1, () => {
        writer.string(1, id);
        if (health) writer.string(2, health);
      });
  });
  assert.deepEqual(readDevices(list), [
    { id: 'a', healthy: true },
    { id: 'b', healthy: false },
    { id: 'c', healthy: false },
  ]);
});

test('the first of several containers in an answer is the requested one', () => {
  const answer = message((writer) => {
    for (const name of ['first', 'second'])
      within(writer, 1, () =>
        within(writer, 1, () => {
          writer.string(1, '__proto__');
          writer.string(2, name);
        }),
      );
  });
  const { env } = readAllocated(answer);
  assert.deepEqual(Object.entries(env), [['__proto__', 'first']]);
});
