/** Merging of the lines of several logs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  emptyLog,
  LineReader,
  linesAfter,
  type MergedLog,
  mergeLines,
} from '../../../../src/dashboard/app/pages/logs/plan/log-lines.ts';

const at = (second: number, text: string) => `2026-01-02T00:00:${String(second).padStart(2, '0')}Z ${text}\n`;
const textsOf = ({ lines }: MergedLog) => lines.map(({ source, text }) => `${source}:${text}`);

describe('a reader of one log', () => {
  it('returns lines once they are complete, however the pieces are cut', () => {
    const reader = new LineReader(3);
    const whole = at(1, 'first') + at(2, 'second');
    const lines = [...whole].flatMap((char) => reader.read(char));
    assert.deepEqual(lines, [
      { source: 3, stamp: '2026-01-02T00:00:01.000000000Z', text: 'first' },
      { source: 3, stamp: '2026-01-02T00:00:02.000000000Z', text: 'second' },
    ]);
    assert.deepEqual(reader.end(), []);
  });

  it('returns a last line without a line feed when the log ends', () => {
    const reader = new LineReader(0);
    assert.deepEqual(reader.read(at(1, 'whole').trimEnd()), []);
    assert.deepEqual(
      reader.end().map(({ text }) => text),
      ['whole'],
    );
  });

  it('makes times comparable as texts, whatever their digits and zone', () => {
    const reader = new LineReader(0);
    const stamps = ['00:00:01.5Z a', '00:00:01.49Z b', '02:00:01.123456789+02:00 c']
      .flatMap((line) => reader.read(`2026-01-02T${line}\n`))
      .map(({ stamp }) => stamp);
    assert.deepEqual(stamps, [
      '2026-01-02T00:00:01.500000000Z',
      '2026-01-02T00:00:01.490000000Z',
      '2026-01-02T00:00:01.123456789Z',
    ]);
  });

  it('gives a line without a time the time of the line before', () => {
    const reader = new LineReader(0);
    const [, second] = reader.read(`${at(1, 'a')}  at main.js:1\n`);
    assert.deepEqual(second, {
      ...{ source: 0, stamp: '2026-01-02T00:00:01.000000000Z', text: '  at main.js:1' },
    });
  });

  it('cuts a line without an end, so that it does not grow without bound', () => {
    const reader = new LineReader(0);
    let count = 0;
    for (let i = 0; i < 20; i++) count += reader.read('x'.repeat(10_000)).length;
    assert.ok(count >= 10, `${count} lines`);
  });
});

describe('merged logs', () => {
  const read = (source: number, text: string) => new LineReader(source).read(text);

  it('have the lines of all sources in the order of their times', () => {
    const first = mergeLines(emptyLog, read(0, at(1, 'a') + at(3, 'c') + at(5, 'e')), 10);
    const both = mergeLines(first, read(1, at(2, 'b') + at(4, 'd') + at(6, 'f')), 10);
    assert.deepEqual(textsOf(both), ['0:a', '1:b', '0:c', '1:d', '0:e', '1:f']);
  });

  it('keep the order of arrival among lines with the same time', () => {
    const first = mergeLines(emptyLog, read(0, at(1, 'a') + at(1, 'b')), 10);
    assert.deepEqual(textsOf(mergeLines(first, read(1, at(1, 'c')), 10)), ['0:a', '0:b', '1:c']);
  });

  it('equal a sort of all lines, whatever pieces they arrive in', () => {
    let seed = 7;
    const next = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % below;
    };
    let log = emptyLog;
    const all: { stamp: string; text: string }[] = [];
    for (let i = 0; i < 300; i++) {
      const lines = Array.from({ length: next(4) }, (_, n) => ({
        ...{ source: next(3), stamp: String(next(50)).padStart(2, '0'), text: `${i}-${n}` },
      }));
      all.push(...lines);
      log = mergeLines(log, lines, 10_000);
    }
    const expected = all.toSorted((a, b) => (a.stamp < b.stamp ? -1 : a.stamp > b.stamp ? 1 : 0));
    assert.deepEqual(
      log.lines.map(({ text }) => text),
      expected.map(({ text }) => text),
    );
  });

  it('leave out and count the oldest lines above the maximum', () => {
    const log = mergeLines(emptyLog, read(0, at(1, 'a') + at(2, 'b') + at(3, 'c')), 2);
    assert.deepEqual([textsOf(log), log.dropped], [['0:b', '0:c'], 1]);
  });

  it('do not repeat lines of a log that is requested again', () => {
    const lines = read(0, at(1, 'a') + at(2, 'b') + at(3, 'c'));
    assert.deepEqual(
      linesAfter(lines, lines[1]?.stamp ?? '').map(({ text }) => text),
      ['c'],
    );
    assert.equal(linesAfter(lines, '').length, 3);
  });
});
