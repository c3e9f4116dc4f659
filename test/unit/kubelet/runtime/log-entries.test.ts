/**
 * Times before the lines of a log that the engine sends in pieces. For the real engine see
 * test/conformance/kubelet/docker-logs.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { logEntries, printEntries } from '../../../../src/kubelet/runtime/log-entries.ts';

const timeOf = (second: number) => `2026-01-02T03:04:${String(second).padStart(2, '0')}.000000001Z `;
const [first, second, third] = [timeOf(1), timeOf(2), timeOf(3)] as const;

interface Sent {
  readonly head: string;
  readonly text: string;
  readonly output?: 'stdout' | 'stderr';
}

/**
 * Returns the entries as the engine sends them without a terminal: behind a header with the output and the
 * length.
 */
function framed(entries: readonly Sent[]): Buffer {
  return Buffer.concat(
    entries.map(({ head, text, output = 'stdout' }) => {
      const body = Buffer.from(head + text);
      const header = Buffer.alloc(8);
      header[0] = output === 'stderr' ? 2 : 1;
      header.writeUInt32BE(body.length, 4);
      return Buffer.concat([header, body]);
    }),
  );
}

const plain = (entries: readonly Sent[]) =>
  Buffer.from(entries.map(({ head, text }) => head + text).join(''));

async function* inPieces(bytes: Buffer, cuts: readonly number[]) {
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    yield bytes.subarray(from, to);
    from = to;
  }
}

async function printed(chunks: AsyncIterable<Uint8Array>, tty: boolean, timestamps = true): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of printEntries(logEntries(chunks, { tty }), { timestamps })) parts.push(part);
  return Buffer.concat(parts).toString();
}

const long = 'L'.repeat(16 * 1024);
/** Piece as the engine sends it when none of its bytes is UTF-8. */
const replaced = '\uFFFD'.repeat(16 * 1024);

const longLine: readonly Sent[] = [
  { head: first, text: 'first\n' },
  { head: second, text: long },
  { head: second, text: long },
  { head: second, text: 'LLL\n' },
  { head: third, text: 'after\n' },
];
const shown = `${first}first\n${second}${long}${long}LLL\n${third}after\n`;

const withReplacements: readonly Sent[] = [
  { head: first, text: replaced },
  { head: first, text: `${'x'.repeat(16 * 1024 - 2)}\uFFFD\uFFFD` },
  { head: first, text: `\uFFFD${'é'.repeat(8191)}x` },
  { head: first, text: '\n' },
  { head: second, text: 'after\n' },
];

describe('the time of a line', () => {
  for (const [title, tty, bytes] of [
    ['of both outputs', false, framed(longLine)],
    ['of a terminal', true, plain(longLine)],
  ] as const) {
    test(`${title} is written once before a long line, wherever its bytes are split`, async () => {
      // Every byte around each border of an entry, and some in between.
      const borders = [0, 6, 37, 16_384, 16_461, 32_768, 32_900, bytes.length - 80];
      const cuts = borders.flatMap((border) => Array.from({ length: 90 }, (_, index) => border + index));
      for (const cut of cuts.filter((at) => at < bytes.length))
        assert.ok((await printed(inPieces(bytes, [cut]), tty)) === shown, `cut at ${cut}`);
    });

    test(`${title} is written once before a long line that arrives byte by byte`, async () => {
      const start = bytes.subarray(0, 16_500);
      const cuts = Array.from({ length: start.length }, (_, index) => index + 1);
      assert.ok((await printed(inPieces(bytes, cuts), tty)) === shown);
    });

    test(`${title} is omitted unless it is requested`, async () => {
      assert.ok((await printed(inPieces(bytes, []), tty, false)) === shown.replaceAll(/2026\S+ /g, ''));
    });
  }

  test('is of the line’s own output when pieces of stdout and stderr alternate', async () => {
    const mixed: readonly Sent[] = [
      { head: first, text: long, output: 'stdout' },
      { head: second, text: long, output: 'stderr' },
      { head: first, text: 'out\n', output: 'stdout' },
      { head: second, text: 'err\n', output: 'stderr' },
      { head: third, text: 'next\n', output: 'stdout' },
    ];
    const expected = `${first}${long}${second}${long}out\nerr\n${third}next\n`;
    assert.ok((await printed(inPieces(framed(mixed), [100, 17_000]), false)) === expected);
  });

  test('is written once before a line with invalid UTF-8, which is longer in the log', async () => {
    const expected = `${first}${withReplacements
      .slice(0, 4)
      .map(({ text }) => text)
      .join('')}${second}after\n`;
    for (const [tty, bytes] of [
      [false, framed(withReplacements)],
      [true, plain(withReplacements)],
    ] as const)
      for (const size of [1000, 16_384, 65_536]) {
        const cuts = Array.from(
          { length: Math.floor(bytes.length / size) },
          (_, index) => (index + 1) * size,
        );
        assert.ok((await printed(inPieces(bytes, cuts), tty)) === expected, `in pieces of ${size}`);
      }
  });

  test('is written before a line whose beginning is not sent, as with a tail', async () => {
    const tail = longLine.slice(3);
    assert.equal(await printed(inPieces(framed(tail), []), false), `${second}LLL\n${third}after\n`);
  });

  test('is kept as text if the program printed it at the start of a line', async () => {
    const own: readonly Sent[] = [{ head: first, text: `${first}said by the program\n` }];
    const expected = `${first}${first}said by the program\n`;
    assert.equal(await printed(inPieces(framed(own), []), false), expected);
    assert.equal(await printed(inPieces(plain(own), []), true), expected);
  });

  test('is printed with a piece of a line on a terminal at once, without waiting for the next piece', async () => {
    async function* waiting() {
      yield Buffer.from(first + long);
      assert.fail('the next piece was requested');
    }
    for await (const part of printEntries(logEntries(waiting(), { tty: true }), { timestamps: true })) {
      assert.ok(part.toString() === first + long);
      break;
    }
  });
});
