/** Every value has one encoding: any other is rejected, so that two parsers cannot read different values. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { childrenOf, readDer, readObjectIdentifier, requireTag, tags } from '../../../src/formats/der.ts';
import { der, oid, sequence } from '../../fixtures/der.ts';

const octets = (length: number) => Buffer.alloc(length, 1);

describe('a value', () => {
  for (const length of [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff]) {
    test(`of ${length} octets is read`, () => {
      const whole = der(tags.octetString, octets(length));
      const value = readDer(whole);
      assert.equal(value.tag, tags.octetString);
      assert.deepEqual(value.content, octets(length));
      assert.deepEqual(value.whole, whole);
    });
  }

  const refused: [what: string, bytes: Buffer, why: RegExp][] = [
    ['nothing', Buffer.of(), /exactly one value/],
    ['two values', Buffer.of(4, 0, 4, 0), /exactly one value/],
    ['a byte left over', Buffer.of(4, 1, 1, 4), /cut off/],
    ['a tag alone', Buffer.of(4), /cut off/],
    ['content that is cut off', Buffer.of(4, 2, 1), /cut off/],
    ['a length that is cut off', Buffer.of(4, 0x82, 1), /cut off/],
    ['an indefinite length', Buffer.of(4, 0x80, 1, 0, 0), /zero octets or of too many octets/],
    ['a length of five octets', Buffer.of(4, 0x85, 0, 0, 0, 0, 0), /zero octets or of too many octets/],
    ['a short length in a long form', Buffer.of(4, 0x81, 1, 1), /not in its shortest form/],
    [
      'the longest short length in a long form',
      Buffer.concat([Buffer.of(4, 0x81, 0x7f), octets(0x7f)]),
      /not in its shortest form/,
    ],
    [
      'a length that begins with zero',
      Buffer.concat([Buffer.of(4, 0x82, 0, 0x80), octets(0x80)]),
      /not in its shortest form/,
    ],
    ['a tag of more than one octet', Buffer.of(0x1f, 0x81, 0), /tag of more than one octet/],
  ];
  for (const [what, bytes, why] of refused) {
    test(`is refused if the bytes have ${what}`, () =>
      assert.throws(() => readDer(bytes), { name: 'EncodingError', message: why }));
  }

  test('has the requested tag, or is refused', () => {
    const value = readDer(sequence(oid('2.5.4.3')));
    assert.deepEqual(
      childrenOf(value, tags.sequence).map(({ tag }) => tag),
      [tags.objectIdentifier],
    );
    assert.throws(() => childrenOf(value, tags.set), /has 0x30 where 0x31 is expected/);
    assert.throws(() => requireTag(undefined, tags.set), /has nothing where 0x31 is expected/);
  });
});

describe('an object identifier', () => {
  for (const text of ['2.5.4.3', '2.5.29.17', '1.2.840.113549.1.9.14', '0.9.2342', '2.999.128']) {
    test(`${text} is read back as written`, () =>
      assert.equal(readObjectIdentifier(readDer(oid(text))), text));
  }

  const refused: [what: string, content: Buffer, why: RegExp][] = [
    ['nothing', Buffer.of(), /cut off/],
    ['an arc that is cut off', Buffer.of(0x55, 0x84), /cut off/],
    ['an arc with zeros in front', Buffer.of(0x55, 4, 0x80, 3), /invalid object identifier/],
    ['zeros in front of the first arc', Buffer.of(0x80, 0x55, 4, 3), /invalid object identifier/],
    [
      'an arc above the maximum',
      Buffer.concat([Buffer.alloc(9, 0xff), Buffer.of(0)]),
      /invalid object identifier/,
    ],
  ];
  for (const [what, content, why] of refused)
    test(`is refused if its content has ${what}`, () =>
      assert.throws(() => readObjectIdentifier(readDer(der(tags.objectIdentifier, content))), why));
});
