/**
 * Placed calls of instances that reject, break off, hang and disappear: each call is made once, and
 * leaves no place occupied.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import type { CallOutcome, Place } from '../../../../../src/features/functions/api/placed-calls.ts';
import { placedCalls } from '../../../../../src/features/functions/server/placed-calls.ts';
import { fn, pod } from './function-cache.ts';
import { cut, InstancePrograms, refusing } from './instance-programs.ts';

describe('a placed call', () => {
  function world() {
    const programs = new InstancePrograms();
    const { clock, gateway, connections } = programs;
    const calls = placedCalls({ gateway, connections, clock });
    const named = { namespace: 'default', function: 'f', id: 'run.1' };
    const over = new AbortController();
    const placed = async () => {
      let place: Place | undefined;
      calls.place(named, over.signal).then(
        (one) => {
          place = one;
        },
        () => undefined,
      );
      await clock.advance(1000);
      return place;
    };
    /** Sends a call with its place for the first time, or to the instance `again`. */
    const send = (place: Place | undefined, again = 'uid-one', ageMs = 0) => {
      const result: { outcome?: CallOutcome; error?: unknown } = {};
      const instance = place?.instance ?? again;
      calls.send({ ...named, instance, place, ageMs, body: '{"a":1}' }, over.signal).then(
        (outcome) => {
          result.outcome = outcome;
        },
        (error: unknown) => {
          result.error = error;
        },
      );
      return result;
    };
    const sent = async (...given: Parameters<typeof send>) => {
      const result = send(...given);
      await clock.advance(1000);
      return result.outcome?.type;
    };
    return { programs, clock, calls, named, over, placed, send, sent };
  }

  it('has its place at an instance that listens, and releases it', async () => {
    const { programs, clock, calls, named, over } = world();
    const program = programs.add('one');
    program.isDeaf = true;
    const places: Place[] = [];
    const place = () => void calls.place(named, over.signal).then((one) => places.push(one));
    place();
    await clock.advance(1000);
    assert.deepEqual([places.length, programs.underWay('one')], [0, 0]);
    program.isDeaf = false;
    await clock.advance(1000);
    assert.deepEqual([places.length, programs.underWay('one'), calls.hasRoom(named)], [1, 1, false]);
    assert.equal(program.asked.length, 0);
    const { programs: others, placed, calls: more } = world();
    others.add('one');
    const held = await placed();
    assert.deepEqual([held?.instance, others.underWay('one'), more.hasRoom(named)], ['uid-one', 1, false]);
    held?.release();
    held?.release();
    assert.deepEqual([others.underWay('one'), more.hasRoom(named)], [0, true]);
  });
  it('is sent first as a new call, and later with its age', async () => {
    const { programs, placed, send, clock } = world();
    const program = programs.add('one');
    program.answer = (_, respond) =>
      void respond.writeHead(500, { 'content-type': 'application/json', 'function-error': 'Own' }).end('"e"');
    const first = send(await placed());
    await clock.settle();
    const again = send(undefined, 'uid-one', 1500);
    await clock.settle();
    for (const { outcome } of [first, again])
      assert.deepEqual(outcome, {
        ...{ type: 'answered', status: 500, error: 'Own', isJson: true, body: Buffer.from('"e"') },
      });
    assert.deepEqual(
      program.asked.map(({ headers }) => [headers['function-call-id'], headers['function-once']]),
      [
        ['run.1', '0'],
        ['run.1', '1.500'],
      ],
    );
    assert.deepEqual([program.asked[0]?.body, programs.underWay('one')], ['{"a":1}', 0]);
  });
  for (const [what, answer, first, again] of [
    ['breaks off', cut, 'unclear', 'unclear'],
    ['is refused for lack of room', refusing('busy'), 'notMade', 'unclear'],
    ['is refused by an instance that ends', refusing('stopping'), 'notMade', 'notMade'],
    ['is refused by an instance that is stuck', refusing('stuck'), 'notMade', 'notMade'],
    ['finds no listener', undefined, 'notMade', 'unclear'],
    ['is no longer known', refusing('forgotten', 410), 'lost', 'lost'],
  ] as const)
    it(`that ${what} is ${first} at the first attempt, and ${again} at a repeated one`, async () => {
      for (const isFirst of [true, false]) {
        const { programs, placed, sent } = world();
        const program = programs.add('one');
        const place = isFirst ? await placed() : undefined;
        program.isDeaf = answer === undefined;
        program.answer = answer ?? cut;
        for (const connection of program.connections) connection.destroy();
        assert.equal(await sent(place), isFirst ? first : again);
        assert.equal(programs.underWay('one'), 0);
      }
    });
  it('is not made if its instance had ended before the first attempt, and is lost afterwards', async () => {
    for (const end of ['gone', 'ended'] as const)
      for (const isFirst of [true, false]) {
        const { programs, placed, sent } = world();
        programs.add('one');
        const place = isFirst ? await placed() : undefined;
        if (end === 'gone') programs.cache.remove(pod('one'));
        else programs.cache.put({ ...pod('one'), status: { phase: 'Failed' } } as never);
        assert.equal(await sent(place), isFirst ? 'notMade' : 'lost');
      }
  });
  it('is not made if its function was deleted before the first attempt, and is lost afterwards', async () => {
    for (const isFirst of [true, false]) {
      const { programs, placed, sent } = world();
      programs.add('one');
      const place = isFirst ? await placed() : undefined;
      programs.cache.remove(fn());
      assert.equal(await sent(place), isFirst ? 'notMade' : 'lost');
    }
  });
  it('to an image without a memory of calls is never sent again', async () => {
    const { programs, placed, sent } = world();
    const own = fn();
    programs.cache.put({ ...own, spec: { ...own.spec, runtime: undefined } } as never);
    const program = programs.add('one');
    assert.equal(await sent(undefined), 'lost');
    assert.equal(program.asked.length, 0);
    assert.equal(await sent(await placed()), 'answered');
  });
  it('is a POST of JSON to the root, with the names of function and call', async () => {
    const { programs, placed, send, clock, over } = world();
    const program = programs.add('one');
    const place = await placed();
    assert.equal(getEventListeners(over.signal, 'abort').length, 0, 'its place waits for nothing');
    send(place);
    await clock.settle();
    const { method, path, headers } = program.asked[0] ?? assert.fail();
    assert.deepEqual([method, path], ['POST', '/']);
    assert.deepEqual(headers, {
      ...{ host: 'f', connection: 'keep-alive', 'content-type': 'application/json', 'content-length': '7' },
      ...{
        'function-call-id': 'run.1',
        'function-name': 'f',
        'function-namespace': 'default',
        'function-once': '0',
      },
    });
  });
  it('gets a place at once at an instance that has listened before', async () => {
    const { programs, placed } = world();
    const program = programs.add('one');
    (await placed())?.release();
    program.isDeaf = true;
    assert.equal((await placed())?.instance, 'uid-one');
  });
  it('reports why it was not made, or its result', async () => {
    const { programs, send, placed, clock } = world();
    const program = programs.add('one');
    const why = async (place: Place | undefined, again?: string) => {
      const { outcome } = await Promise.resolve(send(place, again)).then(async (result) => {
        await clock.advance(1000);
        return result;
      });
      return outcome && 'why' in outcome ? outcome.why : undefined;
    };
    assert.equal(await why(undefined, 'uid-x'), 'the instance uid-x that had the call is gone');
    program.answer = refusing('busy');
    assert.equal(await why(await placed()), 'busy');
    program.answer = refusing('forgotten', 410);
    assert.equal(await why(undefined), 'the instance was restarted, or has forgotten its older calls');
    const own = fn();
    programs.cache.put({ ...own, spec: { ...own.spec, runtime: undefined } } as never);
    assert.equal(
      await why(undefined),
      'the function has an image of its own, whose instances remember no calls',
    );
  });
  it('that is aborted closes its connection at once', async () => {
    const { programs, placed, send, clock, over } = world();
    const program = programs.add('one');
    program.answer = () => undefined;
    send(await placed());
    await clock.settle();
    over.abort(new Error('not wanted'));
    await clock.settle();
    assert.deepEqual([programs.underWay('one'), program.connections.size], [0, 0]);
  });
  for (const [type, isJson] of [
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/problem+json', true],
    ['application/jsonp', false],
    ['text/json', false],
    ['text/plain; a=application/json', false],
    [undefined, false],
  ] as const)
    it(`answered as ${type} is ${isJson ? '' : 'no '}JSON`, async () => {
      const { programs, placed, send, clock } = world();
      programs.add('one').answer = (_, respond) =>
        void respond.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('1');
      const result = send(await placed());
      await clock.settle();
      assert.ok(result.outcome?.type === 'answered');
      assert.deepEqual([result.outcome.isJson, result.outcome.error], [isJson, undefined]);
    });
  it('is late beyond the timeout of its function, and ends if it is aborted', async () => {
    for (const isGivenUp of [false, true]) {
      const { programs, placed, send, clock, over } = world();
      const program = programs.add('one');
      program.answer = () => undefined;
      const result = send(await placed());
      await clock.advance(29_000);
      assert.deepEqual([result, programs.underWay('one')], [{}, 1]);
      if (isGivenUp) over.abort(new Error('not wanted'));
      await clock.advance(1000);
      assert.equal(result.outcome?.type, isGivenUp ? undefined : 'late');
      assert.equal(String(result.error), isGivenUp ? 'Error: not wanted' : 'undefined');
      assert.deepEqual([programs.underWay('one'), program.connections.size], [0, 0]);
    }
  });
  it('has an answer of at most half a mebibyte, with its type', async () => {
    for (const bytes of [512 * 1024, 512 * 1024 + 1, 2 * 1024 * 1024]) {
      const { programs, placed, send, clock } = world();
      programs.add('one').answer = (_, respond) =>
        void respond.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(bytes));
      const { outcome } = await placed().then(async (place) => {
        const result = send(place);
        await clock.advance(1000);
        return result;
      });
      assert.ok(outcome?.type === 'answered');
      assert.deepEqual([outcome.isJson, outcome.body.length], [false, Math.min(bytes, 512 * 1024 + 1)]);
    }
  });
  it('is counted as one call of its function while it is in progress', async () => {
    const { programs, placed, send, clock } = world();
    programs.add('one').answer = () => undefined;
    send(await placed());
    await clock.settle();
    assert.equal(programs.gateway.callsOf('default', 'f').demand().instances, 1);
  });
  it('that found no instance in time is no longer a call of its function', async () => {
    const { programs, calls, named, over, clock } = world();
    let why = '';
    calls.place(named, over.signal).catch((error: Error) => {
      why = error.message;
    });
    await clock.advance(61_000);
    assert.equal(why, 'no instance of the function was free within 60 s');
    assert.equal(programs.gateway.callsOf('default', 'f').isIdle, true);
  });
  it('occupies no place if no caller waits for it', async () => {
    const { programs, placed, over, calls, named } = world();
    assert.equal(await placed(), undefined);
    over.abort(new Error('not wanted'));
    assert.equal(programs.gateway.callsOf('default', 'f').isIdle, true);
    programs.add('one');
    assert.equal(await placed(), undefined);
    assert.equal(calls.hasRoom(named), true);
  });
});
