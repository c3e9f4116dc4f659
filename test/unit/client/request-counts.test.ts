/** Labels under which a client's requests are counted. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestCounts } from '../../../src/client/request-counts.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { samplesOf } from '../../fixtures/samples-of.ts';

it('requests are counted by their result, and measured until the answer begins', async () => {
  const clock = new FakeClock();
  const counts = new RequestCounts(clock);
  let closed = false;
  const transport: Transport = {
    host: '192.0.2.1:6443',
    request: async ({ path }) => {
      await clock.advance(200);
      if (path === '/away') throw new Error('away');
      return { status: 404, header: () => undefined, body: (async function* () {})() };
    },
    close: () => {
      closed = true;
    },
  };
  const measured = counts.measure(transport);
  assert.equal((await measured.request({ method: 'GET', path: '/x' })).status, 404);
  await assert.rejects(measured.request({ method: 'PUT', path: '/away' }), /away/);
  const told = samplesOf(counts.families());
  const host = 'host="192.0.2.1:6443"';
  assert.equal(told.get(`rest_client_requests_total{code="404",${host},method="GET"}`), 1);
  assert.equal(told.get(`rest_client_requests_total{code="<error>",${host},method="PUT"}`), 1);
  assert.equal(told.get(`rest_client_request_duration_seconds_sum{${host},verb="GET"}`), 0.2);
  measured.close();
  assert.ok(closed);
});
