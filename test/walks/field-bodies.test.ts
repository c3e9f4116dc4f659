/**
 * Every field of every kind with the maximum length, and every list and map with the maximum number of
 * entries: no request blocks the event loop of the API server, according to the server's meter. The bound is
 * in processor time: five times the documented limit. MINIK8S_FIELDS selects fields by a regular expression,
 * such as '^Pod spec'. The run takes about five minutes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeteredProcess, turnsBeyond } from '../fixtures/metered-process.ts';
import { fieldBodies } from '../fuzz/field-bodies.ts';
import { collectionOf, routesOf } from '../fuzz/routes.ts';

const picked = new RegExp(process.env.MINIK8S_FIELDS ?? '');
const boundSeconds = 0.5;
/**
 * Timeout within which the event loop of the server must be free again after an answer, or instead of an
 * answer.
 */
const patienceMs = 60_000;

test('no field holds the event loop at any length', { timeout: 7_200_000 }, async (t) => {
  let server = await MeteredProcess.start();
  t.after(() => server.stop());
  const get = async (path: string) => {
    const { body } = await server.send({ what: path, method: 'GET', path });
    return JSON.parse(body.toString());
  };
  const { resources, schemas } = await routesOf(get);
  const seen = new Set<string>();
  const faults: string[] = [];
  let [sent, beyond] = [0, 0];
  for (const resource of resources.filter(({ verbs }) => verbs.includes('create'))) {
    const path = `${collectionOf(resource, 'default')}?dryRun=All`;
    for (const { what, json } of fieldBodies(schemas, resource, seen)) {
      if (!picked.test(what)) continue;
      sent++;
      const { status, failed } = await server.send({ what, method: 'POST', path, body: json() });
      if (failed !== undefined || status === 500) faults.push(`${what}: ${failed ?? status}`);
      const held = await Promise.race([server.held(), sleep(patienceMs, undefined, { ref: false })]);
      if (held === undefined) {
        t.diagnostic(`${what}: the server is lost`);
        await server.kill();
        [server, beyond] = [await MeteredProcess.start(), 0];
        continue;
      }
      const { lines, page } = held;
      for (const line of lines) t.diagnostic(`${what}: ${line}`);
      const now = turnsBeyond(page, boundSeconds);
      if (now > beyond) faults.push(`${what}: ${lines.join()}`);
      beyond = now;
    }
  }
  t.diagnostic(`${sent} bodies`);
  assert.ok(sent > 0, 'MINIK8S_FIELDS picks none');
  assert.deepEqual(faults, []);
});
