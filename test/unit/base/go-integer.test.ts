import assert from 'node:assert/strict';
import { test } from 'node:test';
import { integerOf } from '../../../src/base/go-integer.ts';

test('a prefix chooses the base, and single underscores separate digits', () => {
  for (const [text, value] of [
    ['0', 0],
    ['-0', 0],
    ['12', 12],
    ['+12', 12],
    ['-12', -12],
    ['1_000', 1000],
    ['0x1f', 31],
    ['-0X1F', -31],
    ['0x_1f', 31],
    ['0b101', 5],
    ['0o17', 15],
    ['010', 8],
    ['0_10', 8],
    ['00', 0],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ] as const)
    assert.equal(integerOf(text), value, text);
});

test('other texts are no whole numbers', () => {
  const texts = [
    '',
    '-',
    '+-1',
    '1.0',
    '1e3',
    ' 1',
    '1\n',
    'ten',
    '08',
    '0x',
    '0b2',
    '0o8',
    '1__0',
    '_1',
    '1_',
  ];
  for (const text of [...texts, '0x_', '0__1', '9007199254740992', '٣'])
    assert.equal(integerOf(text), undefined, JSON.stringify(text));
});
