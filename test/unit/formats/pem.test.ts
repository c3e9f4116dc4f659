/** Blocks of PEM texts, also of damaged ones, and the text of a block. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pemBlocks, pemText } from '../../../src/formats/pem.ts';

const found = (text: string) =>
  Array.from(pemBlocks(text), ({ type, hasHeaders, bytes }) => [
    type,
    Buffer.from(bytes).toString('latin1'),
    ...(hasHeaders ? ['headers'] : []),
  ]);
const block = (body: string, type = 'X', last = type) =>
  `-----BEGIN ${type}-----\n${body}\n-----END ${last}-----\n`;

const texts: [what: string, text: string, expected: string[][]][] = [
  ['nothing', '', []],
  ['text without a block', 'no block\n-----\n', []],
  [
    'two blocks with text around them',
    `a\n${block('YQ==')}b\n${block('Yg==', 'A B')}c`,
    [
      ['X', 'a'],
      ['A B', 'b'],
    ],
  ],
  ['lines that end with CR LF', block('YWFh\nYg==').replaceAll('\n', '\r\n'), [['X', 'aaab']]],
  ['a last line without an end', block('YQ==').trimEnd(), [['X', 'a']]],
  ['blanks within the content', block(' YW Fh\t'), [['X', 'aaa']]],
  ['headers', block('A: b\nC: d\n\nYQ=='), [['X', 'a', 'headers']]],
  ['an empty block', block(''), [['X', '']]],
  ['a block that ends with another label', `${block('YQ==', 'X', 'Y')}${block('Yg==')}`, [['X', 'b']]],
  ['a block without an end', `-----BEGIN X-----\nYQ==\n${block('Yg==')}`, [['X', 'b']]],
  ['content that is not base64', `${block('Y?==')}${block('YQ')}${block('Yg==')}`, [['X', 'b']]],
  ['a beginning inside a line', ` ${block('YQ==')}`, []],
];
for (const [what, text, expected] of texts)
  test(`PEM: ${what}`, () => assert.deepEqual(found(text), expected));

test('PEM: a block is written with 64 characters a line and is read back', () => {
  const bytes = Buffer.from('x'.repeat(100));
  const text = pemText('CERTIFICATE', bytes);
  assert.ok(text.split('\n').every((line) => line.length <= 64));
  assert.deepEqual(found(text), [['CERTIFICATE', 'x'.repeat(100)]]);
});
