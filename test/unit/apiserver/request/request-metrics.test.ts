/** Metrics of a request while it is answered and afterwards, as the metrics page shows them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newStatusError } from '../../../../src/apimachinery/status-error.ts';
import { parseRequestInfo } from '../../../../src/apiserver/request/request-info.ts';
import { type MeasuredRequest, RequestMetrics } from '../../../../src/apiserver/request/request-metrics.ts';
import { Registry } from '../../../../src/base/metrics/registry.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const pods = '/api/v1/namespaces/default/pods';

function world() {
  const [registry, clock] = [new Registry(), new FakeClock()];
  const metrics = new RequestMetrics(registry, clock);
  const toStatus = () => newStatusError('Conflict', 'no');
  return {
    clock,
    measure: (request: Partial<MeasuredRequest>, answer: () => Response | Promise<Response>) =>
      metrics.measure(
        {
          method: 'GET',
          info: parseRequestInfo(`${pods}/a`),
          verb: 'get',
          query: new URLSearchParams(),
          longRunning: undefined,
          isServed: true,
          onClosed: undefined,
          ...request,
        },
        answer,
        toStatus,
      ),
    /** Returns the lines of a name, each without the labels that are the same in all. */
    linesOf: (name: string) =>
      [...registry.pieces()]
        .join('')
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .map((line) => line.slice(name.length)),
  };
}

const about = (verb: string, more = '') =>
  `{verb="${verb}",dry_run="",group="",version="v1",resource="pods",subresource="${more}",scope="resource",component="apiserver"`;

describe('requests', () => {
  it('are in flight until they are answered or fail, and are counted once by their status code', async () => {
    const { measure, linesOf } = world();
    const { promise, resolve } = Promise.withResolvers<Response>();
    const first = measure({}, () => promise);
    const second = measure({ verb: 'update', method: 'PUT' }, async () => {
      await promise;
      throw new Error('no');
    });
    const inFlight = () => linesOf('apiserver_current_inflight_requests');
    assert.deepEqual(inFlight(), ['{request_kind="readOnly"} 1', '{request_kind="mutating"} 1']);
    resolve(new Response(null, { status: 201 }));
    await first;
    await assert.rejects(second, { message: 'no' });
    assert.deepEqual(inFlight(), ['{request_kind="readOnly"} 0', '{request_kind="mutating"} 0']);
    assert.deepEqual(linesOf('apiserver_request_total'), [
      `${about('GET')},code="201"} 1`,
      `${about('PUT')},code="409"} 1`,
    ]);
  });

  it('that are long-running are counted as open until they are closed, not as in flight', async () => {
    const { measure, linesOf } = world();
    let close = () => {};
    const onClosed = (fn: () => void) => {
      close = fn;
    };
    const info = parseRequestInfo(`${pods}/a/exec`);
    await measure(
      { info, verb: 'create', method: 'POST', longRunning: 'stream', onClosed },
      () => new Response(),
    );
    assert.deepEqual(linesOf('apiserver_current_inflight_requests'), [
      '{request_kind="readOnly"} 0',
      '{request_kind="mutating"} 0',
    ]);
    const open = () => linesOf('apiserver_longrunning_requests').map((line) => line.split(' ').at(-1));
    assert.deepEqual(open(), ['1']);
    close();
    assert.deepEqual(open(), ['0']);
    assert.deepEqual(linesOf('apiserver_request_total'), [`${about('CONNECT', 'exec')},code="200"} 1`]);
    assert.deepEqual(linesOf('apiserver_request_sli_duration_seconds_count'), [
      `${about('CONNECT', 'exec')}} 0`,
    ]);
  });

  it('are measured until their answer begins, in seconds', async () => {
    const { measure, linesOf, clock } = world();
    await measure({}, async () => {
      clock.spend(1500);
      return new Response();
    });
    assert.deepEqual(linesOf('apiserver_request_duration_seconds_sum'), [`${about('GET')}} 1.5`]);
    const buckets = linesOf('apiserver_request_duration_seconds_bucket');
    const bounds = buckets.flatMap((line) =>
      line.endsWith(' 0') ? (/le="(.*)"/.exec(line)?.[1] ?? []) : [],
    );
    assert.equal(bounds.at(-1), '1.25');
  });

  it('with unknown methods and paths have few label values', async () => {
    const { measure, linesOf } = world();
    for (let index = 0; index < 50; index++) {
      const info = parseRequestInfo(`/apis/g${index}.example.com/v${index}/things${index}/a/sub${index}`);
      await measure({ info, method: `M${index}`, isServed: false, verb: undefined }, () => new Response());
      await measure({ method: `M${index}`, verb: undefined }, () => new Response());
      const query = new URLSearchParams({ dryRun: `${index}` });
      await measure({ query }, () => new Response());
    }
    assert.deepEqual(
      linesOf('apiserver_request_total').map((line) => line.split(' ').at(-1)),
      ['50', '50', '50'],
    );
  });
});
