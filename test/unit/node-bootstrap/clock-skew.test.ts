import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clockAdvice } from '../../../src/node-bootstrap/clock-skew.ts';

const now = Date.UTC(2026, 10, 20, 12);
const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
const server = 'https://m:6443';

/** Advice for a server whose certificates are valid from an hour before its time, for a year. */
const advice = (skewMs: number, reports = true) =>
  clockAdvice(
    server,
    {
      notBefore: now - hour,
      notAfter: now + 365 * day,
      serverTime: reports ? now : undefined,
    },
    now + skewMs,
  );

describe('clock advice', () => {
  for (const skew of [0, 59 * second, -59 * second]) {
    test(`a difference of ${skew / second} s causes no warning`, () => assert.equal(advice(skew), undefined));
  }

  const told: readonly [number, string][] = [
    [61 * second, '1 min 1 s ahead of'],
    [-30 * minute, '30 min behind'],
    [2 * day + 3 * hour + minute, '2 d 3 h ahead of'],
  ];
  for (const [skew, words] of told) {
    test(`a clock ${words} that of the server causes a warning`, () => {
      const message = `the clock of this machine is ${words} that of ${server}; set it (timedatectl set-ntp true)`;
      assert.deepEqual(advice(skew), { message, fatal: false });
    });
  }

  test('a clock before the validity of the certificate is a fatal error', () => {
    assert.deepEqual(advice(-3 * hour - 5 * minute), {
      fatal: true,
      message: `the clock of this machine is 3 h 5 min behind that of ${server}, and its certificate is not valid before 2026-11-20T11:00:00.000Z; set it (timedatectl set-ntp true)`,
    });
  });

  test('a clock after the validity of the certificate is reported with the end of the validity', () => {
    assert.match(
      advice(366 * day)?.message ?? '',
      /366 d ahead of .* is valid until 2027-11-20T12:00:00\.000Z only/,
    );
  });

  test('a certificate that has expired by both clocks must be renewed by the master', () => {
    const shown = { notBefore: now - day, notAfter: now - hour, serverTime: now };
    const { message = '', fatal } = clockAdvice(server, shown, now) ?? {};
    assert.equal(fatal, true);
    assert.match(
      message,
      /^the certificate of https:\/\/m:6443 is valid until .* restart the master, which renews it$/,
    );
  });

  test('a server without a Date header is judged only by its certificate', () => {
    assert.equal(advice(-30 * minute, false), undefined);
    assert.equal(advice(-2 * hour, false)?.fatal, true);
  });
});
