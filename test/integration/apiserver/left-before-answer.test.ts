/** Answers that are ready only when their client has left, or whose source has closed already. */
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { pipeAnswer } from '../../../src/apiserver/transport/streamed-answer.ts';

const silent = () => new Readable({ read() {} });

/** Serves one request by `answer`; resolves to the client's request once the server has it. */
async function asked(answer: (outgoing: ServerResponse) => void) {
  const server = createServer((_incoming, outgoing) => answer(outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  // A client that gets no answer has an error before it is closed.
  client.on('error', () => undefined);
  const left = new Promise<void>((resolve) => void client.once('close', resolve));
  client.end();
  return { client, left, server };
}

it('the source of an answer is closed if the client left before the answer was ready', async () => {
  const { promise: began, resolve: begin } = Promise.withResolvers<ServerResponse>();
  const { client, server } = await asked(begin);
  const outgoing = await began;
  client.destroy();
  await once(outgoing, 'close');
  const source = silent();
  const closed = once(source, 'close');
  pipeAnswer(200, [], source, outgoing);
  await closed;
  server.close();
});

it('the connection is closed if the source broke off before the answer was sent', async () => {
  const source = silent();
  source.destroy();
  await once(source, 'close');
  const { left, server } = await asked((outgoing) => pipeAnswer(200, [], source, outgoing));
  await left;
  server.close();
});
