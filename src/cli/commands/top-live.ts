/** `ctl top --watch`: shows the usage repeatedly, with graphs of the last readings on a terminal. */
import { sleep } from '../../base/clock.ts';
import type { TerminalSize } from '../../terminal/progress-plan.ts';
import { Screen } from '../../terminal/screen.ts';
import { sparkline } from '../../terminal/sparkline.ts';
import type { Use } from '../../views/usage.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { VerbContext } from '../verb.ts';
import type { TopRow } from './top-rows.ts';

/** Milliseconds between two readings: metrics cannot be watched, and change every few seconds. */
const everyMs = 5000;
/** Number of readings that a graph shows. */
const width = 20;

/** A row of the usage, with its cells in the table. */
export interface TopLine {
  readonly row: TopRow;
  readonly cells: readonly string[];
}

export interface TopReading {
  readonly header: readonly string[];
  readonly lines: readonly TopLine[];
}

/**
 * Shows readings until the user stops the command: on a terminal in place, with a graph for each row;
 * elsewhere as plain tables, one below the other.
 */
export async function showLive(context: VerbContext, read: () => Promise<TopReading>): Promise<void> {
  const { io, flags } = context;
  const size = io.screen?.();
  const headerOf = ({ header }: TopReading) => (flags.on('no-headers') ? [] : header);
  await (size ? drawReadings(context, size, headerOf, read) : printReadings(context, headerOf, read));
}

type HeaderOf = (reading: TopReading) => readonly string[];

async function drawReadings(
  { io, palette }: VerbContext,
  size: TerminalSize,
  headerOf: HeaderOf,
  read: () => Promise<TopReading>,
): Promise<void> {
  const { clock, signal, out } = io;
  const graphs = new Graphs();
  using screen = new Screen({ write: out, size: () => io.screen?.() ?? size, clock });
  while (!signal.aborted) {
    const reading = await read();
    graphs.add(reading.lines.map(({ row }) => row));
    const rows = reading.lines.map(({ row, cells }) => [...cells, ...graphs.of(row)]);
    const header = headerOf(reading);
    const headers = header.length > 0 ? [...header, 'CPU', 'MEMORY'] : [];
    screen.show(() => new TableWriter(palette).format(rows, headers));
    await sleep(clock, everyMs, signal);
  }
}

async function printReadings(
  { io, palette }: VerbContext,
  headerOf: HeaderOf,
  read: () => Promise<TopReading>,
): Promise<void> {
  for (let between = ''; !io.signal.aborted; between = '\n') {
    const reading = await read();
    const rows = reading.lines.map(({ cells }) => cells);
    io.out(`${between}${new TableWriter(palette).format(rows, headerOf(reading))}`);
    await sleep(io.clock, everyMs, io.signal);
  }
}

/** The last readings of each row; those of rows that no longer exist are dropped. */
class Graphs {
  #uses: ReadonlyMap<string, readonly Use[]> = new Map();

  add(rows: readonly TopRow[]): void {
    const before = this.#uses;
    this.#uses = new Map(
      rows.map((row) => [keyOf(row), [...(before.get(keyOf(row)) ?? []), row.use].slice(-width)]),
    );
  }

  of(row: TopRow): readonly string[] {
    const uses = this.#uses.get(keyOf(row)) ?? [];
    return (['cpu', 'memory'] as const).map((field) =>
      sparkline(
        uses.map((use) => use[field]),
        width,
      ),
    );
  }
}

const keyOf = ({ namespace, pod, name }: TopRow) => `${namespace}/${pod}/${name}`;
