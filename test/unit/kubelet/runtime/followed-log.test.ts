/**
 * Repeated entries of a followed log, and entries that only look repeated. For the real engine see
 * test/conformance/kubelet/docker-logs.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eachOnce } from '../../../../src/kubelet/runtime/followed-log.ts';
import { logEntries, printEntries } from '../../../../src/kubelet/runtime/log-entries.ts';

type Entry = readonly [nanoseconds: number, text: string];

const headOf = (nanoseconds: number) => {
  const seconds = Math.floor(nanoseconds / 1e9);
  const rest = String(nanoseconds - seconds * 1e9).padStart(9, '0');
  return `${new Date(1_700_000_000_000 + seconds * 1000).toISOString().slice(0, 19)}.${rest}Z `;
};

function frame(text: string, stream = 1): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

/** Yields the bytes in pieces of an odd size, so that entries are cut anywhere. */
async function* pieces(bytes: Buffer, size = 37) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, options = { tty: false, timestamps: false }): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of printEntries(eachOnce(logEntries(pieces(bytes), options)), options))
    parts.push(part);
  return Buffer.concat(parts).toString();
}

const framed = (entries: readonly Entry[]) =>
  Buffer.concat(entries.map(([at, text]) => frame(`${headOf(at)}${text}`)));
const plain = (entries: readonly Entry[]) =>
  Buffer.from(entries.map(([at, text]) => `${headOf(at)}${text}`).join(''));

const [a, b, c, d]: readonly Entry[] = [
  [100, 'a\n'],
  [200, 'b\n'],
  [3_000_000_000, 'c\n'],
  [9_000_000_000, 'd\n'],
] as const;
const long = 'x'.repeat(16 * 1024);
/** A line of three pieces has one time. */
const pieced: readonly Entry[] = [
  [500, long],
  [500, long],
  [500, 'end\n'],
];

describe('a followed log', () => {
  for (const [title, entries, expected] of [
    ['every entry is printed', [a, b, c, d], 'a\nb\nc\nd\n'],
    ['a file that is read again is printed once', [a, b, c, a, b, c, d], 'a\nb\nc\nd\n'],
    ['the end of a file that is read again is printed once', [a, b, c, b, c, d], 'a\nb\nc\nd\n'],
    ['a last line that is read again is printed once', [a, b, c, c, d], 'a\nb\nc\nd\n'],
    ['a file that is read three times is printed once', [a, b, a, b, c, a, b, c, d], 'a\nb\nc\nd\n'],
    [
      'a file that is read again in part is printed once',
      [a, b, c, d, a, b, [9_000_000_100, 'e\n']],
      'a\nb\nc\nd\ne\n',
    ],
    ['equal pieces of one line are all printed', [a, ...pieced, c], `a\n${long}${long}end\nc\n`],
    [
      'equal pieces of one line that are read again are printed once',
      [a, ...pieced, a, ...pieced, c],
      `a\n${long}${long}end\nc\n`,
    ],
    [
      'equal pieces are printed once if the file that is read again begins within the line',
      [a, ...pieced, ...pieced.slice(1), c],
      `a\n${long}${long}end\nc\n`,
    ],
    ['outputs may be out of order', [b, a, d], 'b\na\nd\n'],
    ['a clock that is set back loses nothing', [d, c, [3_000_000_001, 'e\n'], a, b], 'd\nc\ne\na\nb\n'],
  ] as readonly (readonly [string, readonly Entry[], string])[]) {
    test(title, async () => assert.equal(await read(framed(entries)), expected));
    test(`${title}, with a terminal`, async () =>
      assert.equal(await read(plain(entries), { tty: true, timestamps: false }), expected));
  }

  test('times are present if they are requested', async () => {
    const shown = `${headOf(100)}a\n${headOf(200)}b\n`;
    assert.equal(await read(framed([a, b, a, b]), { tty: false, timestamps: true }), shown);
    assert.equal(await read(plain([a, b, a, b]), { tty: true, timestamps: true }), shown);
  });

  test('a line without a timestamp is printed unchanged', async () => {
    assert.equal(await read(Buffer.concat([frame('odd\n'), frame('odd\n')])), 'odd\nodd\n');
  });

  test('an unfinished line of a terminal is printed at the end', async () => {
    assert.equal(await read(plain([a, [200, 'prompt> ']]), { tty: true, timestamps: false }), 'a\nprompt> ');
  });

  test('interleaved pieces of long lines of stdout and stderr are all printed', async () => {
    const piece = (at: number, text: string, stream: number) => frame(`${headOf(at)}${text}`, stream);
    const bytes = [piece(100, long, 1), piece(200, long, 2), piece(100, 'out\n', 1), piece(200, 'err\n', 2)];
    assert.ok((await read(Buffer.concat(bytes))) === `${long}${long}out\nerr\n`);
    assert.ok((await read(Buffer.concat([...bytes, ...bytes]))) === `${long}${long}out\nerr\n`);
  });
});
