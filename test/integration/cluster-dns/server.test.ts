/** The server's sockets and its queries to other servers, over the loopback of this machine. */
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { decode, encode, type Packet } from 'dns-packet';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createClusterZone } from '../../../src/cluster-dns/cluster-zone.ts';
import { DnsCounts } from '../../../src/cluster-dns/dns-counts.ts';
import { systemExchange } from '../../../src/cluster-dns/exchange.ts';
import { createForwarder } from '../../../src/cluster-dns/forwarder.ts';
import { Frames, frame } from '../../../src/cluster-dns/frames.ts';
import { type Listening, listenDns } from '../../../src/cluster-dns/listeners.ts';
import { createResponder } from '../../../src/cluster-dns/responder.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { makeShop } from '../../unit/cluster-dns/objects.ts';

/** A name server whose behaviour depends on the queried name. */
class Upstream {
  readonly #udp: Socket = createSocket('udp4');
  readonly #tcp: Server;
  port = 0;
  questions = 0;

  constructor() {
    this.#udp.on('message', (message, { port, address }) => {
      for (const answer of this.#answers(message, 'udp')) this.#udp.send(answer, port, address);
    });
    this.#tcp = createServer((socket) => {
      const frames = new Frames();
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        for (const message of frames.push(chunk)) {
          // Written in pieces, as networks deliver data.
          for (const answer of this.#answers(message, 'tcp'))
            for (const byte of frame(answer)) socket.write(Buffer.of(byte));
        }
      });
    });
  }

  async start(): Promise<void> {
    this.#tcp.listen(0, '127.0.0.1');
    await once(this.#tcp, 'listening');
    const address = this.#tcp.address();
    assert(typeof address === 'object' && address);
    this.port = address.port;
    this.#udp.bind(this.port, '127.0.0.1');
    await once(this.#udp, 'listening');
  }

  stop(): void {
    this.#udp.close();
    this.#tcp.close();
  }

  #answers(message: Buffer, transport: 'udp' | 'tcp'): Buffer[] {
    this.questions++;
    const { id = 0, questions = [] } = decode(message);
    const name = questions[0]?.name ?? '';
    const answer = (more: Packet = {}) =>
      encode({
        type: 'response',
        id,
        questions,
        answers: [{ type: 'A', name, ttl: 60, data: '192.0.2.9' }],
        ...more,
      });
    const bad = answer({ answers: [{ type: 'A', name, ttl: 60, data: '192.0.2.66' }] });
    const truncated = 512;
    switch (name.split('.')[0]) {
      case 'long':
        return transport === 'udp' ? [answer({ flags: truncated, answers: [] })] : [answer()];
      case 'forged':
        bad.writeUInt16BE(id ^ 1, 0);
        return [
          Buffer.from('no message'),
          bad,
          answer({ questions: [{ name: 'other.example', type: 'A' }] }),
          answer(),
        ];
      case 'silent':
        return [];
      default:
        return [answer()];
    }
  }
}

const port = 5300 + (process.pid % 20_000);
const addresses = ['127.10.0.1', '127.10.0.2'];
const upstream = new Upstream();
await upstream.start();

async function listen(): Promise<Listening> {
  const random = new SeededRandom(1);
  const forwarder = createForwarder({
    servers: async () => [{ address: '127.0.0.1', port: upstream.port }],
    exchange: systemExchange,
    messageId: () => random.below(65_536),
    clock: systemClock,
    log: silentLogger,
  });
  const zone = createClusterZone({
    informers: makeShop(),
    domain: 'cluster.local',
    nameServer: '10.96.0.10',
    networks: ['10.96.0.0/16'],
    hostAddresses: () => undefined,
  });
  const respond = createResponder({
    ...{ zone, forwarder, random: () => random.next(), clock: systemClock },
    counts: new DnsCounts(systemClock),
  });
  return listenDns({ addresses, port, respond, log: silentLogger });
}

const question = (name: string, id = 1) =>
  encode({ type: 'query', id, flags: 256, questions: [{ name, type: 'A' }] });

async function byUdp(message: Buffer, address = addresses[0]): Promise<ReturnType<typeof decode>> {
  const socket = createSocket('udp4');
  try {
    socket.send(message, port, address);
    const [answer] = await once(socket, 'message', { signal: AbortSignal.timeout(120_000) });
    return decode(answer);
  } finally {
    socket.close();
  }
}

const shown = (packet: Packet) => (packet.answers ?? []).map((record) => 'data' in record && record.data);
const web = 'web.shop.svc.cluster.local';

describe('the server', () => {
  let listening: Listening;
  before(async () => {
    listening = await listen();
  });
  after(async () => {
    await listening.close();
    upstream.stop();
  });

  it('answers by UDP at each of its addresses', async () => {
    for (const address of addresses)
      assert.deepEqual(shown(await byUdp(question(web), address)), ['10.96.0.20']);
  });

  it('answers queries of one connection in order, for any division of their bytes', async () => {
    const socket = connect(port, addresses[0]);
    const frames = new Frames();
    const answers: Packet[] = [];
    const done = Promise.withResolvers<void>();
    socket.on('data', (chunk: Buffer) => {
      answers.push(...frames.push(chunk).map((message) => decode(message)));
      if (answers.length === 3) done.resolve();
    });
    const names = [web, 'plain.example', 'db-0.db.shop.svc.cluster.local'];
    const bytes = Buffer.concat(names.map((name, id) => frame(question(name, id))));
    for (let at = 0; at < bytes.length; at += 7) socket.write(bytes.subarray(at, at + 7));
    await done.promise;
    socket.destroy();
    assert.deepEqual(
      answers.map(({ id }) => id),
      [0, 1, 2],
    );
    assert.deepEqual(answers.map(shown), [['10.96.0.20'], ['192.0.2.9'], ['10.244.0.5']]);
  });

  it('retries a truncated answer by TCP', async () => {
    assert.deepEqual(shown(await byUdp(question('long.example'))), ['192.0.2.9']);
  });

  it('accepts only the answer to its question', async () => {
    assert.deepEqual(shown(await byUdp(question('forged.example'))), ['192.0.2.9']);
  });

  it('forwards queries for the target of an ExternalName', async () => {
    assert.deepEqual(shown(await byUdp(question('away.shop.svc.cluster.local'))), [
      'www.example',
      '192.0.2.9',
    ]);
  });

  it('answers SERVFAIL when no server answers', async () => {
    const { rcode } = (await byUdp(question('silent.example'))) as { rcode?: string };
    assert.equal(rcode, 'SERVFAIL');
  });

  it('forwards nothing for a client without recursion', async () => {
    const before = upstream.questions;
    const message = encode({ type: 'query', id: 1, questions: [{ name: 'once.example', type: 'A' }] });
    const { rcode } = (await byUdp(message)) as { rcode?: string };
    assert.equal(rcode, 'REFUSED');
    assert.equal(upstream.questions, before);
  });

  it('survives any input', async () => {
    const random = new SeededRandom(7);
    const noise = () => Buffer.from(Array.from({ length: 1 + random.below(300) }, () => random.below(256)));
    const socket = createSocket('udp4');
    for (let n = 0; n < 500; n++) {
      const message = random.below(2) === 0 ? noise() : question(web, n);
      if (random.below(2) === 0) message[random.below(message.length)] = random.below(256);
      socket.send(message, port, addresses[0]);
    }
    for (let n = 0; n < 20; n++) {
      const connection = connect(port, addresses[0]);
      connection.on('error', () => undefined);
      connection.write(noise());
      connection.write(frame(noise()));
      if (n % 2 === 0) connection.resetAndDestroy();
      else connection.end();
    }
    assert.deepEqual(shown(await byUdp(question(web))), ['10.96.0.20']);
    socket.close();
  });

  it('does not start on an address in use', async () => {
    await assert.rejects(listen(), /port \d+ of 127\.10\.0\.1 is taken by another process/);
    assert.deepEqual(shown(await byUdp(question(web))), ['10.96.0.20']);
  });
});
