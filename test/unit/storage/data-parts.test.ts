import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type DataParts, lostPart, readParts } from '../../../src/storage/data-parts.ts';

const whole: DataParts = {
  hasServed: true,
  hasMember: true,
  databaseBytes: 1,
  logBytes: new Map([
    ['0.wal', 64],
    ['1.wal', 64],
  ]),
};

for (const [what, parts, expected] of [
  ['complete data', whole, undefined],
  ['missing data before etcd has created them', { hasServed: false, hasMember: false }, undefined],
  ['data of which nothing is left', { hasMember: false }, /^all of them are missing$/],
  ['a missing database', { databaseBytes: undefined }, /^the database .* is missing$/],
  ['an empty database', { databaseBytes: 0 }, /^the database .* is empty$/],
  [
    'a missing database of an etcd that has not served',
    { hasServed: false, databaseBytes: undefined },
    /is missing$/,
  ],
  ['a missing log', { logBytes: new Map() }, /^the write-ahead log .* is missing$/],
  [
    'an empty file of the log',
    {
      logBytes: new Map([
        ['0.wal', 64],
        ['1.wal', 0],
      ]),
    },
    /^the file member\/wal\/1\.wal .* is empty$/,
  ],
] as const)
  test(`lostPart ${expected === undefined ? 'accepts' : 'reports'} ${what}`, () => {
    const found = lostPart({ ...whole, ...parts });
    if (expected === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', expected);
  });

test('the parts are read from the directory, and other files are ignored', async () => {
  const data = mkdtempSync(join(tmpdir(), 'data-parts-'));
  try {
    assert.deepEqual(await readParts(data, true), {
      hasServed: true,
      hasMember: false,
      databaseBytes: undefined,
      logBytes: new Map(),
    });
    mkdirSync(join(data, 'member/wal'), { recursive: true });
    mkdirSync(join(data, 'member/snap'));
    writeFileSync(join(data, 'member/snap/db'), 'abc');
    writeFileSync(join(data, 'member/wal/1.wal'), '');
    writeFileSync(join(data, 'member/wal/0.wal'), 'ab');
    for (const other of ['0.tmp', '0.wal.broken']) writeFileSync(join(data, 'member/wal', other), '');
    assert.deepEqual(await readParts(data, false), {
      hasServed: false,
      hasMember: true,
      databaseBytes: 3,
      logBytes: new Map([
        ['0.wal', 2],
        ['1.wal', 0],
      ]),
    });
  } finally {
    rmSync(data, { recursive: true });
  }
});
