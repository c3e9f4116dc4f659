/** Output of the engine's log files, compared with the result of JSON.parse for each entry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LogFilePrinter, type PrintOptions } from '../../../../src/kubelet/runtime/log-file-lines.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const usual: PrintOptions = { timestamps: false, since: undefined };

function print(content: string | Buffer, options: Partial<PrintOptions> = {}, pieceBytes = 1 << 20): string {
  const printer = new LogFilePrinter({ ...usual, ...options });
  const bytes = Buffer.from(content);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    parts.push(printer.print(bytes.subarray(at, at + pieceBytes)));
  return Buffer.concat(parts).toString();
}

/** Returns an entry with its text in the engine's JSON, which escapes more characters than JSON.stringify. */
function entry(log: string, time = '2026-01-02T03:04:05.123456789Z', stream = 'stdout'): string {
  const text = JSON.stringify(log)
    .replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('\uFFFD', '\\ufffd');
  return `{"log":${text},"stream":"${stream}","time":"${time}"}\n`;
}

const oddTexts = [
  'plain\n',
  '\n',
  'tab\tquote"backslash\\slash/ \b\f\r\n',
  '<a href="x">&amp;</a>\n',
  'NUL \u0000, bell \u0007, delete \u007f\n',
  'ä, €, \u2028, \u2029, \uFFFD, \u{1F600}\n',
  'no end',
  '{"log":"inside\\n","stream":"stderr","time":"never"}\n',
];

describe('the output of a log file', () => {
  for (const text of oddTexts)
    test(`has a text unchanged: ${JSON.stringify(text)}`, () => assert.equal(print(entry(text)), text));

  test('equals the result of JSON.parse for random texts, for any division of the bytes', () => {
    const random = new SeededRandom(7);
    const characters = [...'abc <>&"\\/\t\r\b\u0001\u007fäß€\u2028\uFFFD\u{1F600}\ud800'];
    for (let round = 0; round < 300; round++) {
      const texts = Array.from(
        { length: 1 + Math.floor(random.next() * 5) },
        () =>
          Array.from(
            { length: Math.floor(random.next() * 12) },
            () => characters[Math.floor(random.next() * characters.length)] ?? '',
          ).join('') + (random.next() < 0.7 ? '\n' : ''),
      );
      const expected = Buffer.from(texts.join('')).toString();
      const piece = 1 + Math.floor(random.next() * 40);
      assert.equal(print(texts.map((text) => entry(text)).join(''), {}, piece), expected);
    }
  });

  test('contains broken entries unchanged between others', () => {
    const broken = ['{"log":"torn', 'not JSON', '{"log":"a\\x"}', '{"log":1}', ''];
    const content = broken.map((line) => `${entry('before\n')}${line}\n${entry('after\n')}`).join('');
    assert.equal(print(content), broken.map((line) => `before\n${line}\nafter\n`).join(''));
  });

  test('has entries with other fields, in another order and without a text', () => {
    const time = '"time":"2026-01-02T03:04:05Z"';
    const content = [
      `{"log":"a\\n","stream":"stdout","attrs":{"tag":"t"},${time}}`,
      `{${time},"stream":"stderr","log":"b\\n"}`,
      `{"stream":"stdout",${time}}`,
      `{ "log": "c\\n", "stream": "stdout", ${time} }`,
    ].join('\n');
    assert.equal(print(`${content}\n`), 'a\nb\nc\n');
  });

  for (const [written, printed] of [
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456789Z'],
    ['2026-01-02T03:04:05.1Z', '2026-01-02T03:04:05.100000000Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000000Z'],
  ] as const)
    test(`has ${written} with nine digits of the second`, () =>
      assert.equal(print(entry('x\n', written), { timestamps: true }), `${printed} x\n`));

  test('has one time for each line of an output if entries are pieces of lines', () => {
    const [first, second] = ['2026-01-02T03:04:05.000000001Z', '2026-01-02T03:04:05.000000002Z'] as const;
    const content = [
      entry('one ', first),
      entry('ERR ', second, 'stderr'),
      entry('one\n', first),
      entry('ERR\n', second, 'stderr'),
      entry('', first),
      entry('two\n', second),
    ].join('');
    assert.equal(print(content, { timestamps: true }), `${first} one ${second} ERR one\nERR\n${first} two\n`);
  });

  for (const [since, kept] of [
    ['2026-01-02T03:04:05.122Z', 'a\nb\n'],
    ['2026-01-02T03:04:05.123Z', 'a\nb\n'],
    ['2026-01-02T03:04:05.124Z', 'b\n'],
    ['2026-01-02T03:04:06.001Z', ''],
    ['1969-12-31T23:59:59Z', 'a\nb\n'],
    ['+010000-01-01T00:00:00Z', ''],
  ] as const)
    test(`since ${since} leaves out older entries`, () => {
      const content = `${entry('a\n', '2026-01-02T03:04:05.123999Z')}${entry('b\n', '2026-01-02T03:04:06Z')}`;
      assert.equal(print(content, { since: Date.parse(since) }), kept);
    });

  test('has all complete entries after each call, and the rest of an entry with the next call', () => {
    const printer = new LogFilePrinter(usual);
    const bytes = Buffer.from(entry('first\n') + entry('second\n'));
    assert.equal(printer.print(bytes.subarray(0, 100)).toString(), 'first\n');
    const again = Buffer.from(bytes.subarray(100));
    const printed = printer.print(again);
    again.fill(0);
    assert.equal(printed.toString(), 'second\n');
  });
});
