/**
 * `npm run fuzz`: sends requests to every route of the server, broken in many ways, while objects of each
 * kind exist. The run fails on a 5xx answer, on a missing answer, on a turn of the server's event loop of
 * more than 200 ms of its own, on the end of the server, and on a connection that the server keeps when all
 * clients have gone. Failed requests are recorded whole, and sent again by --again.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededRandom } from '../fixtures/seeded-random.ts';
import { openConnections } from './connections.ts';
import { judge } from './judge.ts';
import { Objects } from './objects.ts';
import { type FuzzRequest, type Read, requestOf } from './requests.ts';
import { routesOf } from './routes.ts';
import { Sender, type Sent, type Target } from './send.ts';
import type { FromServer } from './server.ts';
import type { Stall } from './stalls.ts';

const help = `usage: npm run fuzz -- [--requests=N] [--seed=N] [--lanes=N] [--again=FILE]
  --requests=N  100000
  --seed=N      which requests they are; drawn, and printed, without it
  --lanes=N     how many wait for an answer at a time; 4
  --again=FILE  sends what a run has written down, one after the other
`;
const renewEvery = 400;
const thinEvery = 5000;
const connectionsMs = 10_000;
const shown = 20;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    lanes: { type: 'string', default: '4' },
    again: { type: 'string' },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const [requests, seed, lanes] = [values.requests, values.seed, values.lanes].map(Number) as [
  number,
  number,
  number,
];
if (![requests, seed, lanes].every(Number.isInteger)) {
  process.stderr.write('error: --requests, --seed and --lanes are whole numbers\n');
  process.exit(2);
}

interface Failure {
  readonly what: string;
  /** Requests that were in progress. */
  readonly requests: readonly FuzzRequest[];
}

interface Past {
  readonly asked: FuzzRequest;
  readonly from: number;
  to: number;
}

const recent: Past[] = [];
const keptRecent = 2000;
const failures: Failure[] = [];
const stalls: Stall[] = [];
const counts: Record<string, number> = {};
let sentInAll = 0;
let storeTimeouts = 0;
let stolen = 0;

let called = false;
// The results so far are reported all the same.
process.on('SIGINT', () => {
  called = true;
});

const now = () => performance.timeOrigin + performance.now();
const count = (what: string | number) => {
  counts[what] = (counts[what] ?? 0) + 1;
};

function fail(what: string, under: readonly FuzzRequest[]): void {
  failures.push({ what, requests: under });
  if (failures.length > shown) return;
  const first = under.map(
    ({ method, path, headers }) => `${method} ${path.slice(0, 200)} ${JSON.stringify(headers)}`,
  );
  process.stdout.write(`FAILED: ${what}\n${first.map((line) => `    ${line}\n`).join('')}`);
}

async function tracked(sender: Sender, asked: FuzzRequest): Promise<Sent> {
  const past: Past = { asked, from: now(), to: Number.POSITIVE_INFINITY };
  recent.push(past);
  if (recent.length > keptRecent) recent.splice(0, keptRecent / 2);
  const sent = await sender.send(asked);
  past.to = now();
  return sent;
}

async function send(sender: Sender, asked: FuzzRequest): Promise<void> {
  const sent = await tracked(sender, asked);
  sentInAll++;
  count(sent.left ? 'left' : sent.status);
  const verdict = judge(asked, sent);
  if (verdict === 'store') storeTimeouts++;
  else if (verdict !== 'right') fail(verdict.wrong, [asked]);
  else if (asked.object !== undefined && sent.status === 200 && !/dryRun/.test(asked.path))
    await writeBack(sender, asked);
}

/** Checks that a stored object is accepted as it is read. */
async function writeBack(sender: Sender, { object: path = '' }: FuzzRequest): Promise<void> {
  const json = 'application/json';
  const read = await sender.send({ method: 'GET', path, headers: { accept: json } });
  if (read.status !== 200) return;
  const headers = { accept: json, 'content-type': json };
  const asked = { method: 'PUT', path, headers, body: read.body.toString() };
  const { status, body } = await sender.send(asked);
  // Another lane may have written or deleted the object.
  if (status !== 200 && status !== 404 && status !== 409)
    fail(`what was read is refused when it is written: ${status} ${body.toString('utf8', 0, 400)}`, [asked]);
}

function takeStall(stall: Stall, limit: number): void {
  if (stall.own <= limit) {
    stolen++;
    return;
  }
  stalls.push(stall);
  const under = recent
    .filter(({ from, to }) => from <= stall.to && to >= stall.from)
    .map(({ asked }) => asked);
  fail(`the event loop stood for ${Math.round(stall.own)} ms`, under);
}

async function run(server: ChildProcess, target: Target): Promise<void> {
  const sender = new Sender(target, lanes * 2);
  if (values.again !== undefined) {
    for (const { requests: again } of JSON.parse(readFileSync(values.again, 'utf8'), revive) as Failure[])
      for (const asked of again) await send(sender, asked);
    sender.close();
    return;
  }
  const get = async (path: string) => {
    const asked = { method: 'GET', path, headers: { accept: 'application/json' } };
    const { status, body } = await tracked(sender, asked);
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    return JSON.parse(body.toString()) as unknown;
  };
  const routes = await routesOf(get);
  const objects = new Objects(sender, routes.resources);
  await objects.renew(true);
  const read: Read = async (path, accept) => {
    const { status, body } = await sender.send({ method: 'GET', path, headers: { accept } });
    return status === 200 ? body : undefined;
  };
  let next = 0;
  const started = now();
  const lane = async () => {
    while (!called && next < requests && server.exitCode === null && server.signalCode === null) {
      const number = next++;
      // The seeds are far apart, so that neighbors have nothing in common.
      const random = new SeededRandom((seed * 1_000_003 + number * 7919) >>> 0);
      await send(sender, await requestOf(routes, random, read));
      if (number % renewEvery === 0) await objects.renew();
      if (number % thinEvery === thinEvery - 1) {
        await objects.thin();
        process.stderr.write(
          `${number + 1} of ${requests} after ${Math.round((now() - started) / 1000)} s\n`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  sender.close();
}

const asText = (_: string, value: unknown) =>
  value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
const revive = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && 'base64' in value
    ? Buffer.from(String(value.base64), 'base64')
    : value;

process.stdout.write(`seed ${seed}, ${requests} requests\n`);
const server = fork(join(import.meta.dirname, 'server.ts'), { stdio: 'inherit' });
const ended = once(server, 'exit');
let stopping = false;
const ready = Promise.withResolvers<Target>();
const errors = Promise.withResolvers<readonly string[]>();
server.on('message', (message: FromServer) => {
  if ('ready' in message) ready.resolve(message.ready);
  else if ('stall' in message) takeStall(message.stall, message.limit);
  else errors.resolve(message.errors);
});
server.on('exit', (code, signal) => {
  if (stopping) return;
  fail(
    `the server ended with ${signal ?? code}`,
    recent.filter(({ to }) => to > now() - 1000).map(({ asked }) => asked),
  );
  ready.reject(new Error('the server ended'));
  errors.resolve([]);
});
const target = await ready.promise;
await run(server, target);
if (server.exitCode === null) {
  const until = now() + connectionsMs;
  while (openConnections(target.port) > 0 && now() < until)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const open = openConnections(target.port);
  if (open > 0) fail(`${open} connections are open ${connectionsMs / 1000} s after all clients left`, []);
  server.send('errors');
  const lines = await errors.promise;
  for (const line of lines.slice(0, shown)) fail(`logged as an error: ${line.slice(0, 500)}`, []);
  stopping = true;
  server.send('stop');
  await ended;
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
process.stdout.write(
  `requests: ${sentInAll}; etcd too slow: ${storeTimeouts}; the loop was kept from turning by others: ${stolen} times; failures: ${failures.length}\n`,
);
if (failures.length > 0) {
  const file = `fuzz-${seed}.json`;
  writeFileSync(file, JSON.stringify(failures, asText, 1));
  process.stdout.write(`written to ${file}; npm run fuzz -- --again=${file}\n`);
}
process.exit(failures.length > 0 ? 1 : 0);
