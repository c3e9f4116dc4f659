/** The server at --prometheus-url may answer anything: slowly, in parts, far too much. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { SourceSilent } from '../../../src/controllers/autoscaling/outside-metrics.ts';
import { openPrometheus } from '../../../src/roles/master/prometheus.ts';

const answers: [string, (answer: ServerResponse) => void, boolean, RegExp][] = [
  [
    'of one byte every 200 ms',
    (answer) => {
      answer.write('{');
      const timer = setInterval(() => answer.write(' '), 200);
      answer.on('close', () => clearInterval(timer));
    },
    ...([true, /does not answer: nothing within 5 s$/] as const),
  ],
  [
    'that ends early',
    (answer) => void answer.write('{', () => answer.destroy()),
    ...([true, /does not answer: the connection was lost$/] as const),
  ],
  [
    'of 20 MiB',
    (answer) => void answer.write(Buffer.alloc(20 * 2 ** 20, ' ')),
    ...([false, /answered with more than 8388608 bytes$/] as const),
  ],
];

for (const [what, answerWith, isSilent, expected] of answers)
  it(`an answer ${what} is an error`, async () => {
    const server = createServer((_, answer) => answerWith(answer)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using opened = new AsyncDisposableStack();
    const { port } = server.address() as AddressInfo;
    const source = await openPrometheus(
      {
        'prometheus-url': `http://127.0.0.1:${port}`,
        'prometheus-ca': undefined,
        'prometheus-token-file': undefined,
        'prometheus-queries': undefined,
      },
      systemClock,
      opened,
    );
    await assert.rejects(source?.ask('up') ?? Promise.resolve(), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, expected);
      assert.equal(error instanceof SourceSilent, isSilent);
      return true;
    });
    server.closeAllConnections();
    server.close();
  });
