/** Tests how a terminal shows the progress of long work; the test controls the terminal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginWork, LiveLines } from '../../../src/terminal/live-lines.ts';
import { progressLines, rowsOf } from '../../../src/terminal/progress-plan.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { TerminalScreen } from '../../fixtures/terminal-screen.ts';

const screenSize = { columns: 80, rows: 24 };

describe('the lines of progress', () => {
  const work = (what: string, detail = '', since = 0) => ({ what, detail, since });

  it('have the object, the progress and the duration', () => {
    assert.deepEqual(progressLines([work('pod/web', 'stopping'), work('pod/db')], 75_200, screenSize), [
      '| pod/web: stopping (1 min 15 s)',
      '| pod/db (1 min 15 s)',
    ]);
  });

  it('are narrower than the terminal, and end with the duration even if they are shortened', () => {
    for (let width = 1; width < 60; width++) {
      const [line = ''] = progressLines([work('deployment/web', 'x'.repeat(50))], 3000, {
        columns: width,
        rows: 24,
      });
      assert.ok(line.length < width || line === '', `${width}: ${line}`);
      if (width > 20) assert.match(line, /\.\.\. \(3 s\)$/);
    }
  });

  it('are limited in number, and the last one has the count of the others', () => {
    const lines = progressLines(
      Array.from({ length: 20 }, (_, index) => work(`pod/p${index}`)),
      0,
      screenSize,
    );
    assert.equal(lines.length, 8);
    assert.equal(lines.at(-1), '  and 13 more');
    const two = [work('pod/a'), work('pod/b')];
    assert.deepEqual(progressLines(two, 0, { columns: 80, rows: 2 }), ['  and 2 more']);
  });

  it('are counted with the rows into which a narrower terminal wraps them', () => {
    assert.equal(rowsOf(['a'.repeat(50), 'b'], { columns: 40, rows: 24 }), 3);
    assert.equal(rowsOf(['a'.repeat(40), ''], { columns: 40, rows: 24 }), 2);
  });

  it('contain no control characters of the reported progress', () => {
    const [line] = progressLines([work('pod/web', 'a\x1b[2J\nb\rc')], 0, screenSize);
    assert.equal(line, '| pod/web: a [2J b c (0 s)');
  });
});

describe('a terminal', () => {
  const screen = new TerminalScreen();
  const clock = new FakeClock();
  const live = new LiveLines({
    write: (text) => screen.write(text),
    size: () => ({ columns: 40, rows: 24 }),
    clock,
  });
  const print = (text: string) => {
    live.before(text);
    screen.write(text);
  };

  it('shows no work that ends at once', async () => {
    const short = live.begin('pod/short');
    await clock.advance(200);
    short[Symbol.dispose]();
    await clock.advance(1000);
    assert.equal(screen.written, '');
    assert.equal(clock.pending, 0);
  });

  it('shows work in progress below the printed lines, and removes it at the end', async () => {
    print('before\n');
    const first = live.begin('pod/a');
    const second = live.begin('pod/b');
    second.say('stopping');
    await clock.advance(300);
    assert.match(screen.text, /^before\n. pod\/a \(0 s\)\n. pod\/b: stopping \(0 s\)$/);
    print('pod/a is gone\n');
    assert.equal(screen.text, 'before\npod/a is gone\n');
    first[Symbol.dispose]();
    await clock.advance(1000);
    assert.match(screen.text, /^before\npod\/a is gone\n. pod\/b: stopping \(1 s\)$/);
    second[Symbol.dispose]();
    assert.equal(screen.text, 'before\npod/a is gone\n');
    assert.equal(clock.pending, 0, 'nothing draws any more');
  });

  it('is written to ten times a second at most', async () => {
    const before = screen.writes;
    using work = live.begin('pod/c');
    for (let turn = 0; turn < 100; turn++) {
      work.say(`at ${turn}`);
      await clock.advance(10);
    }
    assert.ok(screen.writes - before <= 9, `${screen.writes - before} writes in a second`);
  });

  it('keeps an unfinished line as it is, and shows work only after the line is complete', async () => {
    print('how many? ');
    using _ = live.begin('pod/d');
    await clock.advance(500);
    assert.match(screen.text, /how many\? $/);
    print('3\n');
    await clock.advance(100);
    assert.match(screen.text, /how many\? 3\n. pod\/d \(0 s\)$/);
  });

  it('is optional: work that begins without one writes nothing and starts no timer', () => {
    const before = screen.writes;
    {
      using work = beginWork(undefined, 'pod/e');
      work.say('stopping');
    }
    assert.equal(screen.writes, before);
    assert.equal(clock.pending, 0);
  });
});
