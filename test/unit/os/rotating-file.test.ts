import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { firstTimeIn, RotatingFile, type RotationBounds } from '../../../src/os/rotating-file.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const hour = 3_600_000;
const usual: RotationBounds = { maxBytes: 100, maxAgeMs: 24 * hour, maxBackups: 3 };

describe('a rotated log file', () => {
  const parent = mkdtempSync(join(tmpdir(), 'minik8s-rotating-'));
  after(() => rmSync(parent, { recursive: true }));
  let [directory, path] = ['', ''];
  let clock = new FakeClock();
  beforeEach(() => {
    directory = mkdtempSync(join(parent, 'a'));
    path = join(directory, 'up.log');
    clock = new FakeClock();
  });

  const open = (bounds: Partial<RotationBounds> = {}) =>
    new RotatingFile({
      ...{ path, clock, ...usual, ...bounds },
      lostLine: (count, reason) => `lost ${count}: ${reason}\n`,
    });
  const textOf = (number = 0) => readFileSync(number === 0 ? path : `${path}.${number}`, 'utf8');
  const names = () => readdirSync(directory).sort();
  const line = (number: number) => `${String(number).padStart(3, '0')} ${'x'.repeat(35)}\n`;

  it('has each line once, in the order of writing, and at most as many files as configured', () => {
    const file = open();
    for (let number = 0; number < 9; number++) file.write(line(number));
    assert.deepEqual(names(), ['up.log', 'up.log.1', 'up.log.2', 'up.log.3']);
    const all = [3, 2, 1, 0].map(textOf).join('');
    assert.equal(all, [2, 3, 4, 5, 6, 7, 8].map(line).join(''));
    file.close();
  });

  it('may contain exactly its maximum of bytes', () => {
    const file = open({ maxBytes: 2 * line(0).length });
    file.write(line(1));
    file.write(line(2));
    assert.deepEqual([names(), textOf()], [['up.log'], line(1) + line(2)]);
    file.write(line(3));
    assert.deepEqual([textOf(1), textOf()], [line(1) + line(2), line(3)]);
    file.close();
  });

  it('keeps no former file with maxBackups 0, and keeps a line that is longer than a file', () => {
    const file = open({ maxBackups: 0 });
    const long = `${'y'.repeat(300)}\n`;
    file.write(line(1));
    file.write(long);
    assert.deepEqual([names(), textOf()], [['up.log'], long]);
    file.close();
  });

  it('is rotated by the age of its first line, and old backups are removed then', async () => {
    const begun = new Date(clock.now()).toISOString();
    writeFileSync(path, `${begun} INFO  first\n`);
    writeFileSync(`${path}.1`, 'older\n');
    utimesSync(`${path}.1`, 0, 0);
    const file = open();
    await clock.advance(23 * hour);
    file.write('young enough\n');
    assert.deepEqual(names(), ['up.log', 'up.log.1']);
    await clock.advance(2 * hour);
    file.write('next\n');
    assert.deepEqual(names(), ['up.log', 'up.log.1']);
    assert.match(textOf(1), /first\nyoung enough\n$/);
    assert.equal(textOf(), 'next\n');
    file.close();
  });

  it('is created again after an administrator has moved or removed it', async () => {
    const file = open();
    file.write('a\n');
    renameSync(path, join(directory, 'moved'));
    await clock.advance(1_000);
    file.write('b\n');
    rmSync(path);
    await clock.advance(1_000);
    file.write('c\n');
    assert.equal(textOf(), 'c\n');
    assert.equal(readFileSync(join(directory, 'moved'), 'utf8'), 'a\n');
    file.close();
  });

  it('counts lines that could not be written, and reports them before the next written line', async () => {
    symlinkSync('/dev/full', path);
    const file = open();
    file.write('a\n');
    file.write('b\n');
    rmSync(path);
    await clock.advance(1_000);
    file.write('c\n');
    assert.match(textOf(), /^lost 2: ENOSPC[^\n]*\nc\n$/);
    file.close();
  });

  it('keeps its lines, beyond the bounds, while it cannot be renamed', () => {
    const file = open({ maxBackups: 1 });
    file.write(line(1));
    file.write(line(2));
    // A directory with something in it cannot be replaced by a file.
    mkdirSync(join(`${path}.1`, 'x'), { recursive: true });
    file.write(line(3));
    file.write(line(4));
    assert.equal(textOf(), [1, 2, 3, 4].map(line).join(''));
    file.close();
  });

  it('begins a new line after a text that a killed process has left without an end', () => {
    appendFileSync(path, 'half a li');
    const file = open();
    file.write('whole\n');
    assert.equal(textOf(), 'half a li\nwhole\n');
    file.close();
  });

  it('cannot be opened if no file can be created', () => {
    path = join(directory, 'missing', 'up.log');
    assert.throws(() => open(), /ENOENT/);
  });
});

it('the first time of a text or JSON line is found', () => {
  const at = Date.parse('2026-01-02T03:04:05.678Z');
  assert.equal(firstTimeIn('2026-01-02T03:04:05.678Z INFO  x'), at);
  assert.equal(firstTimeIn('{"ts":"2026-01-02T03:04:05.678Z"}'), at);
  assert.equal(firstTimeIn('minik8s is ready'), undefined);
});
