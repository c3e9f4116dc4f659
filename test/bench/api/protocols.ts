/**
 * HTTP/2 beside HTTP/1.1 on one master, with Node's own clients of both: a connection for each request in
 * flight, and one connection for all of them, as client-go uses them. Each line is measured with one protocol
 * and then with the other, round after round.
 */
import { once } from 'node:events';
import { connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { systemClock } from '../../../src/base/clock.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { type BenchMaster, withMaster } from '../master.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';
import { created, pod } from './objects.ts';

export interface ProtocolsOptions {
  readonly rounds: number;
  /** Milliseconds of each line in a round. */
  readonly ms: number;
}

type Protocol = 'HTTP/1.1' | 'HTTP/2';
/** Sends a request, reads its answer, and resolves to the status. */
type Send = (method: string, path: string, body?: string) => Promise<number>;

interface Credentials {
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
}

const protocols: readonly Protocol[] = ['HTTP/1.1', 'HTTP/2'];
const widths = [1, 16, 64];
const type = { 'content-type': 'application/json' };

function overHttp1(server: string, credentials: Credentials) {
  const agent = new Agent({ ...credentials, keepAlive: true, ALPNProtocols: ['http/1.1'] });
  const send: Send = async (method, path, body) => {
    const sent = request(`${server}${path}`, { agent, method, ...(body !== undefined && { headers: type }) });
    sent.end(body);
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  };
  return { send, close: () => agent.destroy() };
}

function overHttp2(server: string, credentials: Credentials) {
  const session = connect(server, credentials);
  const send: Send = async (method, path, body) => {
    const stream = session.request({
      ':method': method,
      ':path': path,
      ...(body !== undefined && type),
    });
    stream.end(body);
    const [headers] = await once(stream, 'response');
    stream.resume();
    await once(stream, 'end');
    return headers[':status'];
  };
  return { send, close: () => session.destroy() };
}

/** Counter for names, so that no name is used twice. */
let names = 0;

const works: readonly (readonly [string, (send: Send) => Promise<number>])[] = [
  ['create', (send) => send('POST', created, JSON.stringify(pod(`protocols-${names++}`)))],
  ['get', (send) => send('GET', `${created}/protocols-0`)],
];

async function require2xx(answer: Promise<number>): Promise<void> {
  const status = await answer;
  if (status >= 300) throw new Error(`the server answered ${status}`);
}

async function prepare(send: Send): Promise<void> {
  const namespace = created.split('/')[4] ?? '';
  await require2xx(send('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: namespace } })));
  const account = JSON.stringify({ metadata: { name: 'default' } });
  // The controller may have created it.
  await send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, account);
}

async function measure(master: BenchMaster, { rounds, ms }: ProtocolsOptions): Promise<readonly Row[]> {
  const { authority, server, process } = master;
  const { key, certificate: cert } = await issueCertificate(authority, {
    commonName: 'bench',
    organizations: ['system:masters'],
    usages: ['client'],
    notBefore: systemClock.now() - 60_000,
    notAfter: systemClock.now() + 24 * 3_600_000,
  });
  const credentials = { ca: authority.certificate, key, cert };
  const clients = {
    'HTTP/1.1': overHttp1(server, credentials),
    'HTTP/2': overHttp2(server, credentials),
  };
  const measured = new Map<string, { readonly rate: number; readonly cost: number }[]>();
  const line = async (what: string, protocol: Protocol, work: () => Promise<number>, inFlight: number) => {
    const before = usageOf(process.pid ?? 0).cpu;
    const start = performance.now();
    let answers = 0;
    const lane = async () => {
      for (; performance.now() < start + ms; answers++) await require2xx(work());
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    const seconds = (performance.now() - start) / 1000;
    const cost = ((usageOf(process.pid ?? 0).cpu - before) * 1e6) / answers;
    const key = `${protocol} ${what}`;
    measured.set(key, [...(measured.get(key) ?? []), { rate: answers / seconds, cost }]);
  };
  try {
    await prepare(clients['HTTP/1.1'].send);
    // The first round is not counted: frequently used code is not compiled yet.
    for (let round = 0; round <= rounds; round++) {
      if (round === 1) measured.clear();
      for (const [what, work] of works)
        for (const width of widths)
          for (const protocol of round % 2 === 0 ? protocols : protocols.toReversed())
            await line(`${what} × ${width}`, protocol, () => work(clients[protocol].send), width);
    }
  } finally {
    for (const protocol of protocols) clients[protocol].close();
  }
  const of = (protocol: Protocol, what: string, which: 'rate' | 'cost') =>
    median((measured.get(`${protocol} ${what}`) ?? []).map((one) => one[which]));
  const row = (what: string, suffix: string, which: 'rate' | 'cost', unit: string): Row => ({
    what: `${what} over HTTP/2${suffix}`,
    value: of('HTTP/2', what, which),
    unit,
    floor: { what: 'HTTP/1.1', value: of('HTTP/1.1', what, which) },
  });
  return works
    .flatMap(([what]) => widths.map((width) => `${what} × ${width}`))
    .flatMap((what) => [row(what, '', 'rate', '/s'), row(what, ': processor', 'cost', 'µs')]);
}

export const protocolsOf = (options: ProtocolsOptions): Benchmark => ({
  name: 'protocols',
  run: () => withMaster(['--bind-address=127.0.0.1'], (master) => measure(master, options)),
});
