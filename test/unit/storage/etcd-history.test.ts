/** Results of the history between the last seen revision before a write and the fence after the write. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findInHistory, type MarkedWrite } from '../../../src/storage/etcd-history.ts';
import {
  type EtcdRpc,
  RpcError,
  type WatchRequest,
  type WatchResponse,
} from '../../../src/storage/etcd-rpc.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

type Event = WatchResponse['events'][number];
const [before, fence] = [10, 20];

const event = (key: string, revision: number, value: string | undefined, version = 2): Event => ({
  type: value === undefined ? 'delete' : 'put',
  kv: {
    key: Buffer.from(key),
    value: Buffer.from(value ?? ''),
    mod_revision: revision,
    version: value === undefined ? 0 : version,
  },
});
const raised = event('/r.fence', fence, 'now');
const write = (over: Partial<MarkedWrite> = {}): MarkedWrite => ({
  key: '/r/a',
  value: Buffer.from('ours'),
  expected: 5,
  claims: {},
  mark: Buffer.from('mark'),
  ...over,
});
const creation = write({ expected: 0 });
const deletion = write({ value: undefined });

const usual = {
  header: { cluster_id: 1, revision: 99 },
  watch_id: 1,
  created: false,
  canceled: false,
  compact_revision: 0,
  cancel_reason: '',
  fragment: false,
  events: [],
};

/** Returns a stream that sends these responses and then stays silent, or ends; records its cancellation. */
function streamOf(responses: readonly Partial<WatchResponse>[], end: 'silence' | 'end') {
  const cancelled = Promise.withResolvers<void>();
  const state = { sent: [] as WatchRequest[], cancelled: 0 };
  async function* read() {
    for (const response of responses) yield { ...usual, ...response };
    if (end === 'silence') await cancelled.promise;
  }
  const openWatch: EtcdRpc['openWatch'] = async () => ({
    send: (request) => void state.sent.push(request),
    responses: read(),
    cancel: () => {
      state.cancelled++;
      cancelled.resolve();
    },
  });
  return { rpc: { openWatch } as EtcdRpc, state };
}

async function find(wanted: MarkedWrite, responses: readonly Partial<WatchResponse>[], seen = before) {
  const clock = new FakeClock();
  const { rpc, state } = streamOf(responses, 'end');
  try {
    return await findInHistory({ rpc, clock }, wanted, seen, fence, clock.now() + 1000);
  } finally {
    assert.equal(clock.pending, 0);
    assert.ok(seen >= fence || state.cancelled > 0, 'the stream is closed');
  }
}

describe('a write', () => {
  const table: readonly (readonly [string, MarkedWrite, readonly Event[], number | undefined])[] = [
    ['is recognized by its bytes', write(), [event('/r/a', 15, 'ours')], 15],
    ['has not happened if only the fence is found', write(), [], undefined],
    ['is not an event of another key', write(), [event('/r/b', 15, 'ours')], undefined],
    ['is not an event with other bytes', write(), [event('/r/a', 15, 'theirs')], undefined],
    ['is not a creation if it is an update', write(), [event('/r/a', 15, 'ours', 1)], undefined],
    [
      'is not an event after another change of the expected revision',
      write(),
      [event('/r/a', 14, 'theirs'), event('/r/a', 15, 'ours')],
      undefined,
    ],
    ['that creates is recognized by its bytes', creation, [event('/r/a', 15, 'ours', 1)], 15],
    ['that creates is not an update', creation, [event('/r/a', 15, 'ours')], undefined],
    [
      'that creates may follow the deletion of the former object',
      creation,
      [event('/r/a', 13, undefined), event('/r/a', 15, 'ours', 1)],
      15,
    ],
    [
      'without bytes is not a deletion',
      write({ value: Buffer.alloc(0), expected: 0 }),
      [{ ...event('/r/a', 15, undefined), kv: { ...event('/r/a', 15, '', 1).kv } }],
      undefined,
    ],
    [
      'that deletes is recognized by the mark in its transaction',
      deletion,
      [event('/r.gone', 15, 'mark'), event('/r/a', 15, undefined)],
      15,
    ],
    ['that deletes is not a deletion without a mark', deletion, [event('/r/a', 15, undefined)], undefined],
    [
      "that deletes is not a deletion with another writer's mark",
      deletion,
      [event('/r.gone', 15, 'theirs'), event('/r/a', 15, undefined)],
      undefined,
    ],
    [
      'that deletes is not a deletion with its mark at another key',
      deletion,
      [event('/r.b', 15, 'mark'), event('/r/a', 15, undefined)],
      undefined,
    ],
    [
      'that deletes is not a deletion with its mark at another revision',
      deletion,
      [event('/r.gone', 14, 'mark'), event('/r/a', 15, undefined)],
      undefined,
    ],
  ];
  for (const [what, wanted, events, revision] of table) {
    it(what, async () => {
      assert.equal(await find(wanted, [{ created: true }, { events: [...events, raised] }]), revision);
      const oneByOne = [...events, raised].map((one) => ({ events: [one] }));
      assert.equal(await find(wanted, oneByOne), revision);
    });
  }

  it('is not found in events at the fence or after it', async () => {
    const late = [raised, event('/r/a', fence + 1, 'ours')];
    assert.equal(await find(write(), [{ events: late }]), undefined);
  });

  it('is not found in a deletion with any bytes', async () => {
    const deletion = { ...event('/r/a', 15, 'ours'), type: 'delete' } as const;
    assert.equal(await find(write(), [{ events: [deletion, raised] }]), undefined);
  });
});

describe('the history', () => {
  it('is read for the keys from the fence to the object, after the seen and the expected revision', async () => {
    for (const [expected, from] of [
      [5, before + 1],
      [12, 13],
    ] as const) {
      const clock = new FakeClock();
      const { rpc, state } = streamOf([{ events: [raised] }], 'end');
      await findInHistory({ rpc, clock }, write({ expected }), before, fence, clock.now() + 1000);
      const [request] = state.sent;
      assert.deepEqual(
        [request?.create_request?.key.toString(), request?.create_request?.range_end.toString()],
        ['/r.fence', '/r/a\0'],
      );
      assert.equal(request?.create_request?.start_revision, from);
      assert.equal(request?.create_request?.fragment, true);
    }
  });

  const failure = (name: string) => (error: unknown) => {
    assert.ok(error instanceof RpcError);
    return error.failure === name;
  };

  it('counts as compacted if the fence is not after the revision seen before', async () => {
    for (const seen of [fence, fence + 1])
      await assert.rejects(find(write(), [], seen), failure('compacted'));
    assert.equal(await find(write(), [{ events: [raised] }], fence - 1), undefined);
  });

  it('is compacted when etcd reports so, and unreadable when etcd rejects the watch', async () => {
    const canceled = { canceled: true, cancel_reason: 'no' };
    await assert.rejects(find(write(), [{ ...canceled, compact_revision: 1 }]), failure('compacted'));
    await assert.rejects(find(write(), [canceled]), failure('refused'));
  });

  it('is unknown when the connection ends', () => assert.rejects(find(write(), []), failure('unanswered')));

  for (const [left, waits] of [
    [700, 700],
    [0, 1],
    [-5, 1],
  ] as const) {
    it(`is awaited until the deadline (${left} ms)`, async () => {
      const clock = new FakeClock();
      const { rpc, state } = streamOf([{ created: true }], 'silence');
      const found = findInHistory({ rpc, clock }, write(), before, fence, clock.now() + left);
      const rejected = assert.rejects(found, failure('unanswered'));
      await clock.settle();
      assert.equal(clock.nextIn, waits);
      await clock.advance(waits);
      assert.ok(state.cancelled > 0);
      await rejected;
    });
  }
});
