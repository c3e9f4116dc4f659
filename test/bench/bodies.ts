/**
 * Time for which the worst known requests block the API server's thread: the longest turn of the event loop
 * while one request is served, in processor time, so that other load of the machine does not count. The
 * server runs in this process, over the memory store. The requests are those of the integration test
 * (test/fixtures/worst-bodies.ts).
 */
import { setImmediate } from 'node:timers/promises';
import type { Store } from '../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../fixtures/api-server.ts';
import {
  removals,
  senderUsers,
  type WorstBody,
  worstBodies,
  worstBodyObjects,
} from '../fixtures/worst-bodies.ts';
import { maxTurn } from './longest-turn.ts';
import { type Benchmark, median, type Row } from './report.ts';

const runs = 3;
const target = 100;
async function send(
  server: TestServer,
  { as, method, path, type }: WorstBody,
  body: Uint8Array<ArrayBuffer>,
) {
  const headers = { 'content-type': type };
  const user = senderUsers[as];
  if (user) return (await server.call(method, path, body, { user, headers })).status;
  const answer = await server.app.fetch(
    new Request(`https://apiserver${path}`, { method, headers, body }),
    {},
  );
  await answer.body?.cancel();
  return answer.status;
}

async function remove(server: TestServer, path: string): Promise<void> {
  for (const [method, type, body] of removals)
    await server.call(method, path, body, { headers: { 'content-type': type } });
}

/** Returns the time to parse and serialize the same text; undefined if it is not JSON. */
async function floorOf(body: Uint8Array): Promise<number | undefined> {
  const text = Buffer.from(body).toString();
  try {
    return await maxTurn(async () => JSON.stringify(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

async function measure(server: TestServer, worst: WorstBody): Promise<Row> {
  const { method, path, type, as, what, slow } = worst;
  const body = worst.body();
  const held: number[] = [];
  let status = 0;
  for (let run = 0; run < (slow ? 1 : runs); run++) {
    if (method === 'POST') await remove(server, `${path}/new`);
    held.push(
      await maxTurn(async () => {
        status = await send(server, worst, body);
      }),
    );
  }
  const size =
    body.length > 1e6 ? `${(body.length / 1e6).toFixed(1)} MB` : `${Math.round(body.length / 1e3)} kB`;
  const value = median(held);
  const floor = await floorOf(body);
  return {
    what: `${as}, ${method} ${type.replace(/.*[/.]/, '')}: ${what} (${size} → ${status})`,
    value,
    unit: 'ms',
    ...(floor !== undefined && { floor: { what: 'JSON.parse and stringify', value: floor } }),
    target: `< ${target}`,
    met: value < target,
  };
}

/**
 * Returns a store that answers only after the event loop has turned, like a store in another process, such as
 * etcd.
 */
const asFarAway = (store: Store): Store => ({
  ...store,
  async get(key) {
    await setImmediate();
    return store.get(key);
  },
});

async function run(): Promise<readonly Row[]> {
  const server = await startTestServer({ wrapStore: asFarAway });
  for (const [path, object] of worstBodyObjects) {
    const { status, text } = await server.call('POST', path, object);
    if (status !== 201) throw new Error(`POST ${path} was answered with ${text}`);
  }
  const rows: Row[] = [];
  for (const worst of worstBodies) rows.push(await measure(server, worst));
  await server.stop();
  return rows;
}

export const bodies: Benchmark = { name: 'bodies', run };
