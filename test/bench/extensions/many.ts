/**
 * Cost of many definitions of 20 kB: applying them, their memory, discovery and OpenAPI, and adding one more
 * while requests are served.
 */
import type { Server } from '../api/servers.ts';
import { Lane, requestBytes, type Target } from '../lane.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';
import { usageOf } from '../usage.ts';
import { define } from './define.ts';
import { definitionsPath, largeDefinition } from './objects.ts';
import type { ExtensionOptions } from './options.ts';

const lanes = 8;
const settleMs = 5000;
/** Definitions that are installed while requests are measured. */
const installed = 5;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Applies the definitions, as a client does that installs a package of them. */
export async function applyMany(target: Target, count: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      const lane = new Lane(target, true);
      for (let number = next++; number < count; number = next++) {
        const definition = largeDefinition(number);
        const path = `${definitionsPath}/${definition.metadata.name}?fieldManager=bench`;
        await lane.ask(
          requestBytes('PATCH', path, JSON.stringify(definition), 'application/apply-patch+yaml'),
        );
      }
      lane.close();
    }),
  );
}

/** Resolves when the kind of the last definition is served. */
export async function untilServed(target: Target, count: number): Promise<void> {
  const { spec } = largeDefinition(count - 1);
  const path = `/apis/${spec.group}/v1/namespaces/default/${spec.names.plural}?limit=1`;
  for (let isServed = false; !isServed; ) {
    const lane = new Lane(target, true);
    isServed = await lane.ask(requestBytes('GET', path)).then(
      () => true,
      () => false,
    );
    lane.close();
    if (!isServed) await wait(20);
  }
}

async function milliseconds(target: Target, path: string, accept?: string): Promise<number> {
  const lane = new Lane(target, true);
  const bytes = requestBytes('GET', path).toString();
  const request = Buffer.from(accept ? bytes.replace('application/json', accept) : bytes);
  const all = await timed(5, () => lane.ask(request));
  lane.close();
  return median(all.slice(1));
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const documents: readonly (readonly [what: string, path: string, accept?: string])[] = [
  ['discovery', '/apis', aggregated],
  ['OpenAPI v3, the list', '/openapi/v3'],
  ['OpenAPI v3, one group', '/openapi/v3/apis/g0.many.example.com/v1'],
  ['OpenAPI v2', '/openapi/v2'],
];

/** Returns the longest duration of the requests that were sent while `beside` ran, in milliseconds. */
async function longest(target: Target, beside: () => Promise<unknown>): Promise<number> {
  const lane = new Lane(target, true);
  const request = requestBytes('GET', '/api/v1/namespaces/default/configmaps?limit=1');
  let isOver = false;
  let most = 0;
  const over = beside().finally(() => {
    isOver = true;
  });
  while (!isOver) most = Math.max(most, ...(await timed(1, () => lane.ask(request))));
  await over;
  lane.close();
  return most;
}

interface Figures {
  readonly [what: string]: number;
}

async function figuresOf({ target, pid }: Server, { definitions }: ExtensionOptions): Promise<Figures> {
  const before = usageOf(pid);
  const start = performance.now();
  await applyMany(target, definitions);
  await untilServed(target, definitions);
  const applied = (performance.now() - start) / 1000;
  const cpu = usageOf(pid).cpu - before.cpu;
  const first = await timed(1, () => milliseconds(target, '/openapi/v3'));
  await wait(settleMs);
  const figures: Record<string, number> = {
    applied,
    'applied: processor': cpu,
    'OpenAPI v3, the list, the first time': first[0] ?? Number.NaN,
    'memory (RSS)': (usageOf(pid).rss - before.rss) / 2 ** 20,
  };
  for (const [what, path, accept] of documents) figures[what] = await milliseconds(target, path, accept);
  const usual = await longest(target, () => wait(2000));
  const beside = await longest(target, async () => {
    for (let number = 0; number < installed; number++) {
      const one = largeDefinition(number, 'more');
      await define(target, one, `/apis/${one.spec.group}/v1/${one.spec.names.plural}`);
    }
  });
  figures['longest request while nothing is installed'] = usual;
  figures['additional duration of the longest request during an installation'] = beside - usual;
  return figures;
}

const goals: Readonly<Record<string, readonly [unit: string, max?: number]>> = {
  applied: ['s', 60],
  'applied: processor': ['s'],
  'OpenAPI v3, the list, the first time': ['ms'],
  'memory (RSS)': ['MB', 200],
  ...Object.fromEntries(documents.map(([what]) => [what, ['ms', 100] as const])),
  'longest request while nothing is installed': ['ms'],
  'additional duration of the longest request during an installation': ['ms', 50],
};

function rowsOf(all: readonly (readonly [Server['name'], Figures])[], count: number): readonly Row[] {
  const of = (name: Server['name']) => all.find(([server]) => server === name)?.[1];
  const theirs = of('kube-apiserver');
  return Object.entries(goals).map(([what, [unit, max]]) => {
    const value = of('minik8s')?.[what] ?? Number.NaN;
    return {
      ...{ what: `${count} definitions: ${what}`, value, unit },
      ...(theirs && { floor: { what: 'kube-apiserver', value: theirs[what] ?? Number.NaN } }),
      ...(max !== undefined && { target: `< ${max}`, met: value < max }),
    };
  });
}

export const many = (options: ExtensionOptions): Benchmark => ({
  name: 'definitions',
  run: () =>
    options.withServers(async (servers) => {
      const all: (readonly [Server['name'], Figures])[] = [];
      for (const server of servers) all.push([server.name, await figuresOf(server, options)]);
      return rowsOf(all, options.definitions);
    }),
});
