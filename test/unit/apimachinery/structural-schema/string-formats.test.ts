import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCheck } from '../../../../src/apimachinery/structural-schema/string-formats.ts';

/** Texts that have a format, and texts that do not. */
const cases: Readonly<Record<string, readonly [right: readonly string[], wrong: readonly string[]]>> = {
  bsonobjectid: [['507f1f77bcf86cd799439011'], ['507f1f77', 'zz7f1f77bcf86cd799439011']],
  uri: [
    ['http://a.example/x?y=1#z', '/path', 'mailto:a@b', 'http://[::1]:80/', 'http://a:8080'],
    ['', 'a.example/x', 'http://a b/', 'http://a:port/', '/%zz', 'http://a/\u0001'],
  ],
  email: [
    ['a@example.com', 'A B <a.b+c@example.com>', '"a b"@example.com'],
    ['a', '@example.com', 'a@', 'a..b@x.y', 'a b@x.y'],
  ],
  hostname: [
    ['a', 'a.example.com', 'Ä.example'],
    ['', '-a', 'a_b', `${'a'.repeat(64)}.com`, `${'a.'.repeat(200)}com`],
  ],
  ipv4: [
    ['1.2.3.4', '010.0.0.1'],
    ['1.2.3', '1.2.3.256', '::1', '1.2.3.4.5', 'a.b.c.d'],
  ],
  ipv6: [
    ['::', '::1', '1:2:3:4:5:6:7:8', 'fe80::a', '::ffff:1.2.3.4'],
    ['1.2.3.4', '1:2:3:4:5:6:7', '1::2::3', '12345::', 'fe80::a%eth0', '1:2:3:4:5:6:7:8:9'],
  ],
  cidr: [
    ['10.0.0.0/8', 'fd00::/64'],
    ['10.0.0.0', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/8/8', '10.0.0.0/x'],
  ],
  mac: [
    ['00:00:5e:00:53:01', '02-00-5e-10-00-00-00-01', '0000.5e00.5301'],
    ['00:00:5e:00:53', '00:00-5e:00:53:01', 'x'],
  ],
  uuid: [
    ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'],
    ['123e4567', '123e4567-e89b-12d3-a456-42661417400g'],
  ],
  uuid3: [['123e4567-e89b-32d3-a456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  uuid4: [['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-42d3-c456-426614174000']],
  uuid5: [['123e4567-e89b-52d3-b456-426614174000'], ['123e4567-e89b-42d3-b456-426614174000']],
  isbn: [
    ['0321751043', '978-0321751041'],
    ['0321751044', 'x'],
  ],
  isbn10: [
    ['0321751043', '097522980X'],
    ['978-0321751041', '0321751044'],
  ],
  isbn13: [['978-0321751041'], ['0321751043', '978-0321751042']],
  creditcard: [
    ['4111 1111 1111 1111', '5555-5555-5555-4444'],
    ['4111111111111112', '1234'],
  ],
  ssn: [
    ['111-11-1111', '111 11 1111'],
    ['111111111', '111-11-111'],
  ],
  hexcolor: [
    ['#fff', 'FFFFFF'],
    ['#ffff', 'red'],
  ],
  rgbcolor: [['rgb(0, 128,255)'], ['rgb(0,0,256)', 'rgb(00,0,0)', 'rgb(1,2)']],
  byte: [
    ['YQ==', 'YWI=', 'YWJj'],
    ['', 'YQ', 'YQ=', 'Y Q=', '!!!!'],
  ],
  password: [['', 'anything'], []],
  date: [
    ['2024-02-29', '1999-12-31'],
    ['2023-02-29', '2024-13-01', '2024-1-1', '2024-02-29T00:00:00Z', ''],
  ],
  duration: [
    ['1h30m', '-1.5s', '0', '22 ns', '3 days', '5 weeks'],
    ['', '5', '5 parsecs', 'x'],
  ],
  'date-time': [
    ['2024-01-01T00:00:00Z', '2024-01-01t23:59:59.123z', '2024-01-01T00:00:00+01:00'],
    [
      '2024-01-01',
      '2024-01-01T24:00:00Z',
      '2024-01-01T00:60:00Z',
      '2024-01-01T00:00:00',
      '2024-02-30T00:00:00Z',
    ],
  ],
};

describe('the format', () => {
  for (const [format, [right, wrong]] of Object.entries(cases))
    it(`${format} accepts and rejects the same strings as upstream`, () => {
      const check = formatCheck(format);
      assert.ok(check);
      assert.deepEqual(
        right.filter((text) => !check(text)),
        [],
        'rejected although valid',
      );
      assert.deepEqual(
        wrong.filter((text) => check(text)),
        [],
        'accepted although invalid',
      );
    });

  it('is unknown if Kubernetes does not define it for strings, such as int32', () => {
    assert.equal(formatCheck('int32'), undefined);
    assert.equal(formatCheck('of-the-user'), undefined);
  });
});
