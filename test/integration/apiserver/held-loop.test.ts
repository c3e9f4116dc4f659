/**
 * Requests that block the event loop of an API server, measured by its own meter. The meter counts processor
 * time of the thread. The bound is five times the promised time, since a busy machine makes processor time
 * longer too. Work that grows with the square of a size takes seconds.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hostileRequests } from '../../fixtures/hostile-requests.ts';
import { MeteredProcess, turnsBeyond } from '../../fixtures/metered-process.ts';

const boundSeconds = 0.5;

let server: MeteredProcess;
before(async () => {
  server = await MeteredProcess.start();
});
// Node runs the hook, and not `before`, when no test fits the name pattern.
after(() => server?.stop());

test('no hostile request blocks the event loop or stays unanswered', async () => {
  let beyond = 0;
  const faults: string[] = [];
  for (const call of hostileRequests) {
    const { status, failed, body } = await server.send(call);
    if (failed !== undefined || status === 500) faults.push(`${call.what}: ${failed ?? body.toString()}`);
    const { lines, page } = await server.held();
    const now = turnsBeyond(page, boundSeconds);
    if (now > beyond) faults.push(`${call.what}: ${lines.join()}`);
    beyond = now;
  }
  assert.deepEqual(faults, []);
});

test('blocking work is measured as longer than the limit', async () => {
  const before = turnsBeyond((await server.held()).page, boundSeconds);
  server.hold(boundSeconds * 1000 + 100);
  // The turn has ended when the next message is read.
  await server.held();
  const { lines, page } = await server.held();
  assert.equal(turnsBeyond(page, boundSeconds), before + 1, lines.join());
});
