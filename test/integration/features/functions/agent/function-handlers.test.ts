/** Handlers that fail, hang, fork or print, in both runtimes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Runtime, startFunction } from '../../../../fixtures/function-program.ts';
import { eventually } from '../../../kubelet/node-harness.ts';
import { env, sources } from './program-sources.ts';

for (const runtime of ['python', 'nodejs'] as const) {
  describe(`handlers of ${runtime}`, () => {
    const shared: [handler: string, body: unknown, status: number, answer: unknown][] = [
      ['main.later', { a: 1 }, 200, { later: { a: 1 } }],
      ['main.later', { throw: true }, 500, { error: 'Odd: later' }],
      ['main.one', 1, 200, { one: 1 }],
      ['main.none', 1, 200, 'none'],
      ['main.thing', 1, 200, { object: 1 }],
      ['pkg/deep.run', 1, 200, 'deep'],
    ];
    const own: Readonly<Record<Runtime, typeof shared>> = {
      python: [['pkg.deep.run', 1, 200, 'deep']],
      nodejs: [
        ['common.run', 1, 200, 'common'],
        ['only.handler', 1, 200, 'only'],
      ],
    };
    for (const [handler, body, status, answer] of [...shared, ...own[runtime]])
      it(`${handler} with ${JSON.stringify(body)} answers ${status} ${JSON.stringify(answer)}`, async () => {
        const program = await startFunction(runtime, sources[runtime], { ...env, FUNCTION_HANDLER: handler });
        try {
          const found = await program.call({ body });
          assert.deepEqual([found.status, found.json()], [status, answer]);
        } finally {
          await program.close();
        }
      });

    for (const [handler, said] of [
      ['broken.handler', /no[_-]such[_-]module/],
      ['missing.handler', /missing/],
      ['main.nothing', runtime === 'python' ? /no function nothing/ : /exports no function nothing/],
      ['main', /MODULE\.FUNCTION/],
    ] as const)
      it(`${handler} cannot be loaded: the program reports the reason and never listens`, async () => {
        const program = await startFunction(runtime, sources[runtime], { ...env, FUNCTION_HANDLER: handler });
        assert.equal(await program.ended, 1);
        assert.match(program.output.tail, said);
        await program.close();
      });

    const stuckEnv = { ...env, FUNCTION_TIMEOUT_SECONDS: '1', FUNCTION_STUCK_SECONDS: '1' };
    it('that never return do not delay other calls, and then the instance ends', async () => {
      const program = await startFunction(runtime, sources[runtime], {
        ...stuckEnv,
        FUNCTION_TIMEOUT_SECONDS: '2',
      });
      const hung = program.call({ body: { do: 'hold' } }).catch((error) => error as Error);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const slow = program.call({ body: { do: 'sleep', seconds: 1.9 } });
      assert.equal((await slow).json(), 'slept');
      assert.ok((await hung) instanceof Error);
      assert.equal(await program.ended, 70);
      assert.match(program.output.tail, /this instance ends/);
      await program.close();
    });

    it('a call that never lets other calls run ends the instance too', async () => {
      const program = await startFunction(runtime, sources[runtime], stuckEnv);
      await assert.rejects(program.call({ body: { do: 'spin' } }));
      assert.ok([70, 'SIGKILL'].includes(await program.ended));
      await program.close();
    });

    it('that receive SIGTERM work for two more seconds, answer their calls, and end', async () => {
      const program = await startFunction(runtime, sources[runtime], env);
      const slow = program.call({ body: { do: 'sleep', seconds: 3 } });
      await eventually(async () => assert.equal((await program.call({ body: { do: 'none' } })).status, 200));
      program.child.kill('SIGTERM');
      assert.equal((await program.call({ body: { do: 'none' } })).status, 200);
      assert.equal((await slow).json(), 'slept');
      assert.equal(await program.ended, 0);
      await program.close();
    });
  });
}

it('a handler of python that forks and returns twice answers once', async () => {
  const program = await startFunction('python', {
    'main.py':
      'import os\ndef handler(event):\n    return "child" if event.get("fork") and os.fork() == 0 else "own"\n',
  });
  try {
    const length = (text: string) => `Content-Length: ${text.length}\r\n\r\n${text}`;
    const post = 'POST / HTTP/1.1\r\nHost: x\r\n';
    for (let i = 0; i < 5; i++) {
      const text = await program.raw(
        `${post}${length('{"fork":1}')}${post}Connection: close\r\n${length('{}')}`,
      );
      assert.deepEqual(text.match(/"(?:own|child)"/g), ['"own"', '"own"']);
    }
  } finally {
    await program.close();
  }
});
