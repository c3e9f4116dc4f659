import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KindSet } from '../../../../../src/apimachinery/kind-set.ts';
import {
  type GatewayOptions,
  serveGateway,
} from '../../../../../src/features/functions/server/gateway-port.ts';
import { registry } from '../../../../../src/features/kinds.ts';
import { startTestServer } from '../../../../fixtures/api-server.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { troubleText } from '../../../../fixtures/troubleshooting.ts';

const functions = '/apis/minik8s.io/v1/namespaces/default/functions';

async function world(refusals = 0) {
  const server = await startTestServer({ kinds: new KindSet(registry) });
  const { cache, clock } = server;
  const log: string[] = [];
  const holds: string[] = [];
  let left = refusals;
  const listen: GatewayOptions['listen'] = async ({ port, flag }, signal) => {
    assert.deepEqual({ port, flag }, { port: 8071, flag: '--gateway-port' });
    if (left-- > 0) {
      log.push('refused');
      throw new Error('0.0.0.0:8070 is in use');
    }
    log.push('open');
    const closed = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    return { port, closed: closed.then(() => void log.push('closed')) };
  };
  const stop = new AbortController();
  const logger = new RecordingLogger();
  const held: GatewayOptions['held'] = {
    opened: (port) => void holds.push(`opened ${port}`),
    closed: (port) => void holds.push(`closed ${port}`),
    async release() {
      holds.push('released');
    },
  };
  const ended = serveGateway(
    {
      settings: { 'gateway-port': 8071 },
      app: server.app,
      directCalls: undefined,
      ...{ cache, listen, held, clock, log: logger },
    },
    stop.signal,
  );
  return {
    log,
    holds,
    logger,
    clock,
    server,
    async create(name: string) {
      const { status } = await server.call('POST', functions, { metadata: { name }, spec: { image: 'a:1' } });
      assert.equal(status, 201);
      await clock.advance(100);
    },
    async remove(name: string) {
      assert.equal((await server.call('DELETE', `${functions}/${name}`)).status, 200);
      await clock.advance(100);
    },
    async end() {
      stop.abort();
      await ended;
      await server.stop();
    },
  };
}

it('the port is open while a function exists', async () => {
  const { log, create, remove, end, clock } = await world();
  await clock.advance(100);
  assert.deepEqual(log, []);
  await create('one');
  await create('two');
  assert.deepEqual(log, ['open']);
  await remove('one');
  assert.deepEqual(log, ['open']);
  await remove('two');
  assert.deepEqual(log, ['open', 'closed']);
  await create('three');
  assert.deepEqual(log, ['open', 'closed', 'open']);
  await end();
  assert.deepEqual(log, ['open', 'closed', 'open', 'closed']);
});

it('the port is also open while a trigger exists', async () => {
  const { log, server, end, clock } = await world();
  const triggers = '/apis/minik8s.io/v1/namespaces/default/triggers';
  const spec = { target: { name: 'f' }, http: { path: '/a' } };
  assert.equal((await server.call('POST', triggers, { metadata: { name: 't' }, spec })).status, 201);
  await clock.advance(100);
  assert.deepEqual(log, ['open']);
  await server.call('DELETE', `${triggers}/t`);
  await clock.advance(100);
  assert.deepEqual(log, ['open', 'closed']);
  await end();
});

it('a port that another program uses is tried again', async () => {
  const { log, create, end, clock } = await world(2);
  await create('one');
  assert.deepEqual(log, ['refused']);
  await clock.advance(20_000);
  assert.deepEqual(log, ['refused', 'refused', 'open']);
  await end();
});

it('changes of functions cause no further attempt while the port is taken, and the log has one line', async () => {
  const { log, logger, create, remove, end, clock } = await world(3);
  await create('one');
  await create('two');
  await remove('two');
  assert.deepEqual(log, ['refused']);
  const messages = () => logger.lines.map(({ level, message }) => `${level} ${message}`);
  const refused = 'error functions, workflows and triggers cannot be called at --gateway-port';
  await clock.advance(20_000);
  assert.deepEqual(log, ['refused', 'refused', 'refused']);
  assert.deepEqual(messages(), [refused]);
  assert.match(refused, troubleText('cannot be called at --gateway-port'));
  await clock.advance(10_000);
  assert.deepEqual(log, ['refused', 'refused', 'refused', 'open']);
  assert.deepEqual(messages(), [refused, 'info the port of the gateway is open']);
  await end();
});

it('a function that is created after all were deleted causes an attempt at once', async () => {
  const { log, create, remove, end } = await world(1);
  await create('one');
  await remove('one');
  await create('two');
  assert.deepEqual(log, ['refused', 'open']);
  await end();
});

it('the port is closed without a function', async () => {
  const { log, end, clock } = await world();
  await clock.advance(60_000);
  await end();
  assert.deepEqual(log, []);
});

it('a port that is taken again after all functions were deleted is logged again', async () => {
  const { log, logger, create, remove, end } = await world(2);
  await create('one');
  await remove('one');
  await create('two');
  assert.deepEqual(log, ['refused', 'refused']);
  assert.equal(logger.of('error').length, 2);
  await end();
});

it('connections of an earlier process are released at the start, and a port that closes early is named', async () => {
  const { holds, create, remove, end, clock } = await world();
  await clock.advance(100);
  assert.deepEqual(holds, ['released']);
  await create('one');
  await remove('one');
  await create('two');
  await end();
  assert.deepEqual(holds, ['released', 'opened 8071', 'closed 8071', 'opened 8071']);
});
