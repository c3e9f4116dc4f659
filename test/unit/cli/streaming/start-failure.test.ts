import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { HeldOutput, startFailure } from '../../../../src/cli/streaming/start-failure.ts';

const place = { pod: 'web', container: 'main' };
const said = (words: string) => `OCI runtime exec failed: exec failed: ${words}: unknown\r\n`;
const has = 'name a program that the image of the container has';

for (const [text, line] of [
  [
    said('unable to start container process: exec: "nosuch": executable file not found in $PATH'),
    `cannot run "nosuch" in container main of pod web: executable file not found in $PATH; ${has}`,
  ],
  // Message of an older runc.
  [
    said(
      'container_linux.go:367: starting container process caused: exec: "/x": stat /x: no such file or directory',
    ),
    `cannot run "/x" in container main of pod web: stat /x: no such file or directory; ${has}`,
  ],
  [
    said('unable to start container process: exec: "/etc/passwd": permission denied'),
    'cannot run "/etc/passwd" in container main of pod web: permission denied; name a program that is executable there',
  ],
  // Message as nodes with containerd wrap it.
  [
    'Internal error occurred: error executing command in container: failed to exec in container: failed to start exec ' +
      `"0f": ${said('unable to start container process: exec: "a \\"b": executable file not found in $PATH').trimEnd()}`,
    `cannot run "a \\"b" in container main of pod web: executable file not found in $PATH; ${has}`,
  ],
  ['Internal error occurred: no program absent', undefined],
  ['OCI runtime exec failed: exec failed: something else: unknown', undefined],
  ['exec: "x": not found', undefined],
] as const)
  test(`${JSON.stringify(text)} is ${line === undefined ? 'not read as a failed start' : 'reported in one line'}`, () =>
    assert.equal(startFailure(text, place), line));

for (const { what, chunks, passed, held } of [
  {
    what: 'the engine’s words',
    chunks: ['OCI runtime exec failed: a', 'b'],
    passed: '',
    held: 'OCI runtime exec failed: ab',
  },
  { what: 'a single letter', chunks: ['O'], passed: 'O', held: '' },
  {
    what: 'other output, then such words',
    chunks: ['x', 'OCI runtime exec failed: '],
    passed: 'xOCI runtime exec failed: ',
    held: '',
  },
  {
    what: 'more than the engine writes',
    chunks: [`OCI runtime exec failed: ${'x'.repeat(5000)}`, 'y'],
    passed: `OCI runtime exec failed: ${'x'.repeat(5000)}y`,
    held: '',
  },
  {
    what: 'bytes that are no text',
    chunks: [Buffer.from([255, 0, 200])],
    passed: '\u00ff\u0000\u00c8',
    held: '',
  },
])
  test(`output is held back only while it may be the engine's message: ${what}`, async () => {
    let got = '';
    const to = new Writable({
      write(chunk: Buffer, _encoding, done) {
        got += chunk.toString('latin1');
        done();
      },
    });
    const output = new HeldOutput(to);
    for (const chunk of chunks) output.write(chunk);
    await finished(output.end());
    assert.deepEqual([got, output.held], [passed, held]);
  });
