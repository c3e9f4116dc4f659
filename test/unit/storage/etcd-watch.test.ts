import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import {
  type EtcdRpc,
  RpcError,
  type WatchRequest,
  type WatchResponse,
} from '../../../src/storage/etcd-rpc.ts';
import { progressIsOrdered, WatchAssembler, watchEtcd } from '../../../src/storage/etcd-watch.ts';
import { CompactedError, type WatchBatch } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

type Event = WatchResponse['events'][number];

function event(key: string, revision: number, type: Event['type'] = 'put'): Event {
  const kv = {
    key: Buffer.from(key),
    value: Buffer.from(String(revision)),
    mod_revision: revision,
    version: 1,
  };
  return { type, kv };
}

function response(
  events: readonly Event[],
  rest: Partial<WatchResponse> & { revision?: number } = {},
): WatchResponse {
  const { revision = 99, ...fields } = rest;
  return {
    header: { cluster_id: 1, revision },
    watch_id: 1,
    created: false,
    canceled: false,
    compact_revision: 0,
    cancel_reason: '',
    fragment: false,
    events,
    ...fields,
  };
}

const summary = (step: ReturnType<WatchAssembler['take']>) =>
  step.type === 'batch' ? [step.batch.events.map((e) => e.revision), step.batch.revision] : step.type;

const cases: [name: string, responses: WatchResponse[], expected: unknown[]][] = [
  ['delivered events are left out', [response([event('/r/a', 5), event('/r/b', 6)])], [[[6], 6]]],
  ['a response with delivered events only gives nothing', [response([event('/r/a', 5)])], ['nothing']],
  [
    'a header ahead of the events is not progress',
    [response([event('/r/a', 6)], { revision: 50 })],
    [[[6], 6]],
  ],
  [
    'a progress notification is delivered, unless its revision is lower than a delivered one',
    [response([], { revision: 9 }), response([], { revision: 8 })],
    [[[], 9], 'nothing'],
  ],
  [
    'a progress notification for all watches of the stream is delivered',
    [response([], { revision: 9, watch_id: -1 })],
    [[[], 9]],
  ],
  ['events of an unknown watch are ignored', [response([event('/r/a', 7)], { watch_id: 4 })], ['nothing']],
  ['a created watch is not progress', [response([], { created: true, revision: 9 })], ['created']],
  [
    'a write of the marker raises the revision without an event',
    [response([event('/r.progress', 7)])],
    [[[], 7]],
  ],
  [
    'a progress notification with the revision of the start is delivered',
    [response([], { revision: 5 })],
    [[[], 5]],
  ],
  [
    'a progress notification after events is delivered',
    [response([event('/r/a', 6)]), response([], { revision: 9 })],
    [
      [[6], 6],
      [[], 9],
    ],
  ],
  [
    'an empty fragment of a response is not progress',
    [response([], { fragment: true, revision: 9 }), response([], { revision: 9 })],
    ['nothing', [[], 9]],
  ],
  [
    'a cancellation with a compacted revision means that history is lost',
    [response([], { canceled: true, compact_revision: 8 })],
    ['compacted'],
  ],
  [
    'a cancellation with the compacted revision 1 means that history is lost',
    [response([], { canceled: true, compact_revision: 1 })],
    ['compacted'],
  ],
  [
    'a cancellation for another reason is reported',
    [response([], { canceled: true, cancel_reason: 'no leader' })],
    ['canceled'],
  ],
  [
    'a revision in fragments is delivered whole, and progress meanwhile is ignored',
    [
      response([event('/r/a', 6), event('/r/a', 7)], { fragment: true }),
      response([], { revision: 9 }),
      response([event('/r/b', 7), event('/r/a', 8)], { fragment: true }),
      response([event('/r/b', 8)]),
    ],
    [[[6], 6], 'nothing', [[7, 7], 7], [[8, 8], 8]],
  ],
  [
    'a fragment with a part of one revision is delivered with the other part',
    [response([event('/r/a', 6)], { fragment: true }), response([event('/r/b', 6, 'delete')])],
    ['nothing', [[6, 6], 6]],
  ],
  [
    'an answer of another cluster means that history is lost',
    [response([], { created: true }), { ...response([]), header: { cluster_id: 2, revision: 3 } }],
    ['created', 'compacted'],
  ],
];
for (const [name, responses, expected] of cases) {
  test(name, () => {
    const assembler = new WatchAssembler('/r/', 5);
    assert.deepEqual(
      responses.map((each) => summary(assembler.take(each))),
      expected,
    );
  });
}

test('a deletion has no value', () => {
  const step = new WatchAssembler('/r/', 5).take(response([event('/r/a', 6, 'delete')]));
  assert.deepEqual(step, {
    type: 'batch',
    batch: { events: [{ type: 'delete', key: '/r/a', revision: 6 }], revision: 6 },
  });
});

test('a stream that breaks between fragments delivers the revision once, from the next stream', () => {
  const assembler = new WatchAssembler('/r/', 5);
  assert.deepEqual(summary(assembler.take(response([event('/r/a', 6)], { fragment: true }))), 'nothing');
  assembler.restart();
  assert.deepEqual(summary(assembler.take(response([event('/r/a', 6), event('/r/b', 6)]))), [[6, 6], 6]);
});

/** Plays one script of responses per stream; a stream breaks at the end of its script. */
function scripted(scripts: WatchResponse[][], clock: FakeClock) {
  const sent: WatchRequest[] = [];
  const openedAt: number[] = [];
  const rpc: Pick<EtcdRpc, 'openWatch'> = {
    async openWatch() {
      openedAt.push(clock.now());
      const script = scripts.shift();
      if (!script) throw new RpcError('unanswered', 'refused');
      async function* responses() {
        yield* script ?? [];
        throw new RpcError('unanswered', 'cut');
      }
      return { send: (request) => void sent.push(request), responses: responses(), cancel() {} };
    },
  };
  return { rpc: rpc as EtcdRpc, sent, openedAt };
}

function collect(rpc: EtcdRpc, clock: FakeClock, signal: AbortSignal) {
  const batches: WatchBatch[] = [];
  const streams: boolean[] = [];
  const ended = (async () => {
    const onStream = (stream: unknown) => void streams.push(stream !== undefined);
    const options = { rpc, clock, log: silentLogger, prefix: '/r/', after: 5, signal, onStream };
    for await (const batch of watchEtcd(options)) batches.push(batch);
  })();
  return { batches, streams, ended };
}

test('a broken stream is opened again at the last delivered revision, at growing intervals', async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const first = [
    response([], { created: true }),
    response([event('/r/a', 6), event('/r/a', 7)], { revision: 90 }),
  ];
  const { rpc, sent, openedAt } = scripted(
    [first, [], [response([event('/r/a', 7), event('/r/a', 8)])]],
    clock,
  );
  const start = clock.now();
  const { batches, streams, ended } = collect(rpc, clock, abort.signal);
  await clock.advance(1000);
  assert.deepEqual(
    batches.flatMap((batch) => batch.events.map((each) => each.revision)),
    [6, 7, 8],
  );
  assert.deepEqual(
    sent.map((request) => request.create_request?.start_revision),
    [5, 7, 7],
  );
  assert.deepEqual(
    openedAt.map((at) => at - start),
    [0, 20, 60, 80, 120, 200, 360, 680],
  );
  assert.deepEqual(streams.slice(0, 2), [true, false]);
  abort.abort();
  await ended;
  assert.equal(clock.pending, 0);
});

test('a revision that a stream left incomplete is delivered once, from the next stream', async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const whole = [event('/r/a', 6), event('/r/b', 6)];
  const { rpc } = scripted(
    [[response(whole.slice(0, 1), { fragment: true })], [response(whole), response([event('/r/a', 7)])]],
    clock,
  );
  const { batches, ended } = collect(rpc, clock, abort.signal);
  await clock.advance(100);
  const keys = batches.map((batch) => batch.events.map((each) => `${each.key}@${each.revision}`));
  assert.deepEqual(keys, [['/r/a@6', '/r/b@6'], ['/r/a@7']]);
  abort.abort();
  await ended;
});

test('a watch waits for a member that lags, and ends when the database was wiped', async () => {
  for (const [current, ends] of [
    [5, false],
    [4, true],
  ] as const) {
    const clock = new FakeClock();
    const abort = new AbortController();
    const { rpc } = scripted(
      [[response([], { created: true, revision: 3 }), response([event('/r/a', 6)])]],
      clock,
    );
    const range: EtcdRpc['range'] = async () => ({
      ...response([]),
      kvs: [],
      more: false,
      count: 0,
      header: { cluster_id: 1, revision: current },
    });
    const { batches, ended } = collect({ ...rpc, range }, clock, abort.signal);
    const outcome = ended.then(
      () => 'ended',
      (error) => error,
    );
    await clock.settle();
    assert.equal(batches.length, ends ? 0 : 1);
    abort.abort();
    assert.equal((await outcome) instanceof CompactedError, ends);
  }
});

test('a compaction ends the watch with the oldest kept revision', async () => {
  const clock = new FakeClock();
  const { rpc } = scripted([[response([], { canceled: true, compact_revision: 40 })]], clock);
  const { ended } = collect(rpc, clock, new AbortController().signal);
  await assert.rejects(ended, (error) => error instanceof CompactedError && error.compactRevision === 40);
});

for (const [version, ordered] of [
  ['3.4.23', false],
  ['3.4.30', false],
  ['3.4.31', true],
  ['3.5.0', false],
  ['3.5.12', false],
  ['3.5.13', true],
  ['3.6.0', true],
  ['3.6.0-rc.1', true],
  ['4.0.0', true],
  ['3.3.9', false],
  ['unknown', false],
] as const) {
  test(`progress requests of etcd ${version} are ${ordered ? '' : 'not '}in order`, () => {
    assert.equal(progressIsOrdered(version), ordered);
  });
}
