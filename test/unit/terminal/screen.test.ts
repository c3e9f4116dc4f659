/** Text in place as a terminal shows it; the clock is moved by the test. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Screen } from '../../../src/terminal/screen.ts';
import { sparkline } from '../../../src/terminal/sparkline.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { TerminalScreen } from '../../fixtures/terminal-screen.ts';

function setUp(rows = 6) {
  const clock = new FakeClock();
  const terminal = new TerminalScreen();
  let writes = 0;
  const write = (text: string) => {
    writes++;
    terminal.write(text);
  };
  const screen = new Screen({ write, size: () => ({ columns: 80, rows }), clock });
  return { clock, terminal, screen, writes: () => writes };
}

describe('text in place', () => {
  it('replaces the text before, also a longer one, and leaves the last text on the terminal', async () => {
    const { clock, terminal, screen } = setUp();
    terminal.write('$ ctl get pods -w\n');
    screen.show(() => 'NAME\nweb-1 Pending\nweb-2 Pending\n');
    await clock.advance(200);
    screen.show(() => 'NAME\nweb-1 Run\n');
    await clock.advance(200);
    screen[Symbol.dispose]();
    assert.equal(terminal.text.trimEnd(), '$ ctl get pods -w\nNAME\nweb-1 Run');
  });

  it('is drawn once for many changes in a moment, with the last of them', async () => {
    const { clock, terminal, screen, writes } = setUp();
    for (let number = 0; number < 1000; number++) screen.show(() => `${number}\n`);
    await clock.advance(150);
    assert.equal(writes(), 2);
    assert.equal(terminal.text.trimEnd(), '999');
  });

  it('has no more lines than the terminal has rows', () => {
    const { terminal, screen } = setUp(4);
    screen.show(() => 'a\nb\nc\nd\ne\n');
    assert.equal(terminal.text.trimEnd(), 'a\nb\n… and 3 more');
  });
});

describe('a sparkline', () => {
  it('has a bar for each value, from zero to the largest', () => {
    assert.equal(sparkline([0, 50, 100], 5), '  ▁▅█');
    assert.equal(sparkline([1, 2, 3, 4], 2), '▆█');
  });

  it('is low for zeros, and blank without values', () => {
    assert.equal(sparkline([0, 0], 2), '▁▁');
    assert.equal(sparkline([], 3), '   ');
  });
});
