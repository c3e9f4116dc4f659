/** `ctl top --watch` by the clock of the test. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { showLive, type TopReading } from '../../../../src/cli/commands/top-live.ts';
import type { Io } from '../../../../src/cli/io.ts';
import type { VerbContext } from '../../../../src/cli/verb.ts';
import { plain } from '../../../../src/terminal/color.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { TerminalScreen } from '../../../fixtures/terminal-screen.ts';

const reading = (cpu: number): TopReading => ({
  header: ['NAME', 'CPU(cores)'],
  lines: [
    {
      row: { namespace: 'shop', pod: 'web', name: 'web', use: { cpu, memory: 0 } },
      cells: ['web', `${cpu}m`],
    },
  ],
});

/** Returns what is written until the command has read three times. */
async function written(own: Partial<Io>): Promise<string> {
  const clock = new FakeClock();
  const over = new AbortController();
  let text = '';
  const out = (part: string) => {
    text += part;
  };
  const io = { ...own, clock, out, signal: over.signal };
  const context = { io, palette: plain, flags: { on: () => false } } as unknown as VerbContext;
  const values = [10, 20, 40];
  const showing = showLive(context, async () => reading(values.shift() ?? 0)).catch(() => undefined);
  await clock.advance(12_000);
  over.abort();
  await clock.until(showing);
  return text;
}

describe('ctl top --watch', () => {
  it('replaces the table in place on a terminal, with a graph for each row', async () => {
    const screen = new TerminalScreen();
    screen.write(await written({ screen: () => ({ columns: 120, rows: 24 }) }));
    const [header, line, ...more] = screen.text.trimEnd().split('\n');
    assert.match(header ?? '', /^NAME +CPU\(cores\) +CPU +MEMORY$/);
    assert.match(line ?? '', /^web +40m +▃▅█ +▁▁▁$/);
    assert.deepEqual(more, []);
  });

  it('prints plain tables one below the other elsewhere', async () => {
    const table = (cpu: string) => `NAME   CPU(cores)\nweb    ${cpu}\n`;
    assert.equal(await written({}), [table('10m'), table('20m'), table('40m')].join('\n'));
  });
});
