/** A server with the public function `wire`, whose program a test controls. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type Clock, systemClock } from '../../../../../src/base/clock.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import {
  functionLabel,
  functionVersionLabel,
  instancePort,
} from '../../../../../src/features/functions/api/function-instance.ts';
import type { KeyAndCertificate } from '../../../../../src/pki/x509.ts';
import { listenAsGateway } from '../../../../fixtures/gateway-port.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../../../fixtures/https-api-server.ts';
import { functions, merge, pods } from '../../../apiserver/gateway-world.ts';

const address = '127.0.0.140';

/** The program of the function: how it answers, and how often it was called. */
export const program: { answer: RequestListener; calls: number } = {
  answer: (_, outgoing) => outgoing.end(),
  calls: 0,
};

/** Answers with the request as JSON. */
export const echo: RequestListener = (incoming, outgoing) => {
  let body = '';
  incoming.on('data', (chunk) => {
    body += chunk;
  });
  incoming.on('end', () => {
    const { method, url, rawHeaders, httpVersion } = incoming;
    outgoing.end(JSON.stringify({ method, url, rawHeaders, httpVersion, body }));
  });
};

export interface WireServer {
  readonly server: HttpsTestServer;
  /** Certificate of an administrator. */
  readonly admin: KeyAndCertificate;
  /** Ports by the implementation that serves calls there. */
  readonly ports: { readonly directly: number; readonly 'by the app': number };
  /** Pending timers of one minute; they fire only when the test calls them. */
  readonly minutes: ReadonlySet<() => void>;
  stop(): Promise<void>;
}

export async function startWireServer(): Promise<WireServer> {
  const minutes = new Set<() => void>();
  const listener = createServer((incoming, outgoing) => {
    program.calls += 1;
    program.answer(incoming, outgoing);
  });
  const server = await startHttpsTestServer({
    clock: withoutMinutes(minutes),
    functionCalls: { master: 'here', reachesPod: () => true, writeDemand: async () => undefined },
  });
  const stopping = new AbortController();
  const closed: Promise<void>[] = [];
  const listen = async (direct: typeof server.directCalls) => {
    const gateway = await listenAsGateway(server, { direct, signal: stopping.signal, patienceMs: 1500 });
    closed.push(gateway.closed);
    return gateway.port;
  };
  assert.ok(server.directCalls);
  const ports = { directly: await listen(server.directCalls), 'by the app': await listen(undefined) };
  const admin = await server.clientCertificate('admin', ['system:masters']);
  await new Promise<void>((resolve) => listener.listen(instancePort, address, resolve));
  await createFunction(server);
  const stop = async () => {
    stopping.abort();
    listener.closeAllConnections();
    listener.close();
    await Promise.all(closed);
    await server.stop();
  };
  return { server, admin, ports, minutes, stop };
}

/** The clock of the system, except for timers of one minute, which are put into `minutes`. */
const withoutMinutes = (minutes: Set<() => void>): Clock => ({
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  soon: (fn) => systemClock.soon(fn),
  after(ms, fn) {
    if (ms !== 60_000) return systemClock.after(ms, fn);
    minutes.add(fn);
    return { cancel: () => void minutes.delete(fn) };
  },
});

/** Creates the Function and a ready pod of it, whose address is that of the program. */
async function createFunction(server: HttpsTestServer): Promise<void> {
  const made = await server.call('POST', functions, {
    metadata: { name: 'wire' },
    spec: { image: 'app:1', public: true },
  });
  const { metadata } = made.json<Fn>();
  await server.call('PATCH', `${functions}/wire/status`, { status: { activeVersion: 'v1' } }, merge);
  await server.call('POST', pods, {
    metadata: {
      name: 'wire',
      labels: { [functionLabel]: 'wire', [functionVersionLabel]: 'v1' },
      ownerReferences: [
        {
          apiVersion: 'minik8s.io/v1',
          kind: 'Function',
          name: 'wire',
          uid: metadata.uid,
          controller: true,
        },
      ],
    },
    spec: { nodeName: 'n1', containers: [{ name: 'function', image: 'app:1' }] },
  });
  const state = { name: 'function', ready: true, restartCount: 0, image: 'app:1', imageID: '' };
  const written = await server.call(
    'PATCH',
    `${pods}/wire/status`,
    {
      status: {
        phase: 'Running',
        podIP: address,
        podIPs: [{ ip: address }],
        containerStatuses: [{ ...state, state: { running: {} } }],
      },
    },
    merge,
  );
  assert.equal(written.status, 200, written.text);
}
