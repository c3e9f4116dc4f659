import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  QuantityError,
  quantityFault,
  quantityMilliValue,
  quantityValue,
  subtractQuantities,
  tryParseQuantity,
  validateQuantity,
  zeroQuantity,
} from '../../../src/apimachinery/quantity.ts';

for (const [text, canonical, value, milli] of [
  ['0', '0', 0, 0],
  ['0Ki', '0', 0, 0],
  ['1', '1', 1, 1000],
  ['100m', '100m', 1, 100],
  ['0.5', '500m', 1, 500],
  ['.5', '500m', 1, 500],
  ['1.', '1', 1, 1000],
  ['1000m', '1', 1, 1000],
  ['1500m', '1500m', 2, 1500],
  ['1024Mi', '1Gi', 1073741824, 1073741824000],
  ['1.5Gi', '1536Mi', 1610612736, 1610612736000],
  ['0.5Mi', '512Ki', 524288, 524288000],
  ['512', '512', 512, 512000],
  ['100Ki', '100Ki', 102400, 102400000],
  ['0.5Ki', '512', 512, 512000],
  ['2e3', '2e3', 2000, 2000000],
  ['12E6', '12e6', 12000000, 12000000000],
  ['1e-3', '1e-3', 1, 1],
  ['1E', '1E', 1e18, 1e21],
  ['100k', '100k', 100000, 100000000],
  ['1000k', '1M', 1000000, 1000000000],
  ['100u', '100u', 1, 1],
  ['0.1n', '1n', 1, 1],
  ['-1', '-1', -1, -1000],
  ['-500m', '-500m', 0, -500],
  ['-2Ki', '-2Ki', -2048, -2048000],
  ['-1.5Ki', '-1536', -1536, -1536000],
  ['-1Ki', '-1Ki', -1024, -1024000],
  ['+3', '3', 3, 3000],
  ['9Ei', '9223372036854775807', 2 ** 63, 2 ** 63 * 1000],
] as const) {
  test(`the quantity ${text} is written as ${canonical}`, () => {
    const quantity = parseQuantity(text);
    assert.equal(formatQuantity(quantity), canonical);
    assert.equal(quantityValue(quantity), value);
    assert.equal(quantityMilliValue(quantity), milli);
    assert.equal(canonicalQuantity(canonical), canonical);
  });
}

test('a JSON number is a quantity', () => {
  assert.equal(canonicalQuantity(0.5), '500m');
  assert.equal(canonicalQuantity(2), '2');
});

test('a huge exponent is limited, and takes no time', () => {
  assert.equal(quantityValue(parseQuantity('1e999999999')), 2 ** 63);
  assert.equal(canonicalQuantity('1e-999999999'), '1e-9');
  assert.equal(canonicalQuantity('0e999999999'), '0');
  assert.equal(canonicalQuantity('0e-999999999'), '0');
  assert.equal(quantityValue(parseQuantity('-1e999999999')), -(2 ** 63));
});

test('a number with many digits and a negative exponent is read exactly', () => {
  assert.equal(canonicalQuantity(`5${'0'.repeat(24)}e-24`), '5');
  assert.equal(canonicalQuantity(`1234${'0'.repeat(60)}e-63`), '1234e-3');
  assert.equal(canonicalQuantity(`0.${'0'.repeat(29)}7e30`), '7');
});

for (const text of ['', 'x', '1x', '1 Gi', '1ki', '1K', '--1', '1.2.3', '1e', 'Ki', '1Gii', 'NaN', '.']) {
  test(`${JSON.stringify(text)} is not a quantity`, () => {
    assert.equal(tryParseQuantity(text), undefined);
    assert.throws(() => parseQuantity(text), QuantityError);
    assert.equal(validateQuantity('spec.x', text)[0]?.reason, 'FieldValueInvalid');
  });
}

test('quantities of different formats are added and compared', () => {
  const a = parseQuantity('1Gi');
  const b = parseQuantity('512Mi');
  assert.equal(formatQuantity(addQuantities(a, b)), '1536Mi');
  assert.equal(formatQuantity(subtractQuantities(a, b)), '512Mi');
  assert.equal(formatQuantity(addQuantities(zeroQuantity, b)), '512Mi');
  assert.equal(compareQuantities(parseQuantity('1'), parseQuantity('1000m')), 0);
  assert.equal(compareQuantities(parseQuantity('1Ki'), parseQuantity('1k')), 1);
});

test('negative values are refused unless allowed', () => {
  assert.equal(validateQuantity('f', '-1').length, 1);
  assert.equal(validateQuantity('f', '-1', { negative: true }).length, 0);
  assert.equal(validateQuantity('f', '1').length, 0);
});

test('a string that is longer than any valid number is rejected in every notation', () => {
  for (const text of ['9'.repeat(101), `0.${'0'.repeat(100)}1`, `1e${'0'.repeat(100)}1`])
    assert.equal(tryParseQuantity(text), undefined);
  assert.equal(canonicalQuantity('9'.repeat(100)), '9223372036854775807');
  assert.equal(canonicalQuantity(`0.${'0'.repeat(90)}1`), '1n');
  assert.equal(canonicalQuantity('1e-999'), '1e-9');
});

test('the message for sizes and processors in other notations suggests the quantity after upstream’s text', () => {
  const told = (text: string) => / did you mean (.*)\?$/.exec(quantityFault(text))?.[1];
  for (const [text, meant] of [
    ['128mb', '128Mi or 128M'],
    ['128MB', '128Mi or 128M'],
    ['1 GB', '1Gi or 1G'],
    ['1.5gb', '1.5Gi or 1.5G'],
    ['64KiB', '64Ki'],
    ['1K', '1Ki or 1k'],
    ['1gi', '1Gi'],
    ['10B', '10'],
    ['2 cores', '2'],
    ['1 core', '1'],
    ['1.5vCPU', '1.5'],
    ['4 CPUs', '4'],
    ['500 millicores', '500m'],
    ['250mcpu', '250m'],
    ['2 cares', undefined],
    ['lots', undefined],
    ['1mm', undefined],
    ['', undefined],
    ['9'.repeat(100_000), undefined],
  ] as const) {
    assert.equal(told(text), meant, text.slice(0, 20));
    for (const one of meant?.split(' or ') ?? []) assert.ok(tryParseQuantity(one), one);
    assert.match(quantityFault(text), /^quantities must match the regular expression '\S+'(;|$)/);
  }
});
