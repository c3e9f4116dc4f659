/**
 * Requests for a custom resource of 3 KB with 20 rules in CEL, at both servers in turn, so that other load of
 * the machine affects both.
 */

import type { Server } from '../api/servers.ts';
import { Lane, requestBytes } from '../lane.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';
import { define } from './define.ts';
import { ruled, ruledObject, ruledPath } from './objects.ts';
import type { ExtensionOptions } from './options.ts';

const widths = [1, 16, 64];
const rateGoal = 1.5;
/** Objects that are read, listed and updated. */
const filled = 64;

interface Measured {
  readonly rate: number;
  /** Microseconds of processor time of the server for one answer. */
  readonly cost: number;
}

/** Makes the requests of one lane; `own` is the number of the lane, `at` that of the request. */
type Requests = (lane: Lane, own: number) => (at: string) => Promise<unknown>;

const requests: Readonly<Record<string, Requests>> = {
  create: (lane) => (at) =>
    lane.ask(requestBytes('POST', ruledPath, JSON.stringify(ruledObject(`made-${at}`)))),
  get: (lane, own) => () => lane.ask(requestBytes('GET', `${ruledPath}/filled-${own}`)),
  update: (lane, own) => {
    let last: string | undefined;
    const path = `${ruledPath}/filled-${own}`;
    return async (at) => {
      last ??= await lane.ask(requestBytes('GET', path));
      const object = JSON.parse(last) as ReturnType<typeof ruledObject>;
      object.metadata.annotations['bench.example.com/count'] = at;
      last = await lane.ask(requestBytes('PUT', path, JSON.stringify(object)));
    };
  },
  list: (lane) => () => lane.ask(requestBytes('GET', `${ruledPath}?labelSelector=app%3Dbench&limit=64`)),
};

let runs = 0;

async function measureLine(
  { target, pid }: Server,
  make: Requests,
  inFlight: number,
  ms: number,
): Promise<Measured> {
  const run = `${Date.now().toString(36)}-${runs++}`;
  const lanes = Array.from({ length: inFlight }, () => new Lane(target, true));
  // Connecting is not part of the measurement.
  await Promise.all(lanes.map((lane) => lane.ask(requestBytes('GET', '/api'))));
  const before = usageOf(pid).cpu;
  const start = performance.now();
  let answers = 0;
  let asked = 0;
  await Promise.all(
    lanes.map(async (lane, own) => {
      const ask = make(lane, own);
      for (; performance.now() < start + ms; answers++) await ask(`${run}-${asked++}`);
      lane.close();
    }),
  );
  const cost = ((usageOf(pid).cpu - before) * 1e6) / answers;
  return { rate: (answers * 1000) / (performance.now() - start), cost };
}

async function fill({ target }: Server): Promise<void> {
  const lane = new Lane(target, true);
  for (let number = 0; number < filled; number++)
    await lane.ask(requestBytes('POST', ruledPath, JSON.stringify(ruledObject(`filled-${number}`))));
  lane.close();
}

async function measure(
  servers: readonly Server[],
  { rounds, ms }: ExtensionOptions,
): Promise<readonly Row[]> {
  for (const server of servers) {
    await define(server.target, ruled, ruledPath);
    await fill(server);
  }
  const lines = Object.entries(requests).flatMap(([what, make]) =>
    widths.map((width) => ({ what: `${what} × ${width}`, make, width })),
  );
  const measured = new Map<string, Measured[]>();
  // The first round is not counted: frequently used code is not compiled yet.
  for (let round = 0; round <= rounds; round++)
    for (const { what, make, width } of lines)
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const one = await measureLine(server, make, width, ms);
        const name = `${server.name} ${what}`;
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), one]);
      }
  return lines.flatMap(({ what }) => rowsOf(what, measured));
}

function rowsOf(what: string, measured: ReadonlyMap<string, readonly Measured[]>): Row[] {
  const of = (server: Server['name'], which: keyof Measured) =>
    median((measured.get(`${server} ${what}`) ?? []).map((one) => one[which]));
  const floor = (which: keyof Measured) =>
    measured.has(`kube-apiserver ${what}`)
      ? { floor: { what: 'kube-apiserver', value: of('kube-apiserver', which) } }
      : {};
  const rate = of('minik8s', 'rate');
  const { floor: theirs } = floor('rate');
  const met = theirs && { target: `≥ ${rateGoal}×`, met: rate >= rateGoal * theirs.value };
  return [
    { what, value: rate, unit: '/s', ...floor('rate'), ...met },
    { what: `${what}: processor`, value: of('minik8s', 'cost'), unit: 'µs', ...floor('cost') },
  ];
}

export const requestsOf = (options: ExtensionOptions): Benchmark => ({
  name: 'requests',
  run: () => options.withServers((servers) => measure(servers, options)),
});
