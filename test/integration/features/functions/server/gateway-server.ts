/** A gateway with functions whose instances are servers of this process. */
import type { RequestListener } from 'node:http';
import { after, afterEach, before } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import type { HttpsTestServer } from '../../../../fixtures/https-api-server.ts';
import { type Asked, type GatewayWorld, startGatewayWorld } from '../../../apiserver/gateway-world.ts';

export let world: GatewayWorld;

export let server: HttpsTestServer;

export const call = (path: string, asked?: Asked) => world.call(path, asked);

export const fn = (spec?: Partial<Fn['spec']>, ready?: boolean) => world.fn(spec, ready);

export const instance = (of: Fn, answer?: RequestListener) => world.instance(of, answer);

export const until = (what: string, probe: () => boolean | Promise<boolean>) =>
  eventually(systemClock, what, probe);

export const echo: RequestListener = (incoming, outgoing) => {
  let body = '';
  incoming.on('data', (chunk) => {
    body += chunk;
  });
  incoming.on('end', () => {
    const { method, url, headers } = incoming;
    outgoing.setHeader('x-own', 'yes').end(JSON.stringify({ method, url, headers, body }));
  });
};

/** Starts the gateway before the tests of a file, cleans up after each, and stops it after them. */
export function serveFunctions(): void {
  before(async () => {
    world = await startGatewayWorld();
    server = world.server;
  });
  after(() => world.stop());
  afterEach(() => world.cleanUp());
}
