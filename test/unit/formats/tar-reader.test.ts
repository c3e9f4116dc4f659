import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveEnd, memberHeader, padding } from '../../../src/formats/tar-archive.ts';
import { readTar } from '../../../src/formats/tar-reader.ts';

const file = { type: 'file', mode: 0o644, uid: 0, gid: 0, modified: 0 } as const;

/** Returns the header of a member with another type, and the check sum of it. */
function header(name: string, size: number, type: string): Buffer {
  const bytes = Buffer.from(memberHeader({ ...file, name, size }));
  bytes.write(type, 156, 'latin1');
  bytes.fill(' ', 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
}

/** An archive with one member, and the pax records before it. */
async function* withRecords(records: string): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(records);
  yield header('pax', text.length, 'x');
  yield text;
  yield padding(text.length);
  yield memberHeader({ ...file, name: 'plain', size: 3 });
  yield Buffer.from('abc');
  yield padding(3);
  yield archiveEnd;
}

async function namesIn(records: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of readTar(withRecords(records))) names.push(name);
  return names;
}

/** Without a check of the digits, some of these lengths never end. */
test('a pax record replaces the name of the next member', async () => {
  assert.deepEqual(await namesIn('14 path=other\n'), ['other']);
});

for (const length of ['0', '1e-9', '0.25', '-3', '0x10', ' ', 'Infinity', '1'.repeat(400_000)])
  test(`a pax record of the length ${length.slice(0, 9)} is rejected at once`, async () => {
    await assert.rejects(namesIn(`${length} path=other\n`), /the archive is damaged: .*(decimal|no length)/);
  });

for (const size of ['-1', '1e3', 'NaN', '', '99999999999999999999'])
  test(`a pax record with the size "${size}" is rejected`, async () => {
    const record = ` size=${size}\n`;
    await assert.rejects(namesIn(`${record.length + 2}${record}`), /a number is not decimal/);
  });
