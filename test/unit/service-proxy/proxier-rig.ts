/** A proxier with scripted informers and a model of the kernel, made anew for each test. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { KeptRules } from '../../../src/os/rule-watch.ts';
import { createProxier, type Proxier } from '../../../src/service-proxy/proxier.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { meta } from '../controllers/objects.ts';
import { ModelKernel } from './model-kernel.ts';

export let clock: FakeClock;
export let log: RecordingLogger;
export let informers: ScriptedInformers;
export let kernel: ModelKernel;
export let stop: AbortController;
export let proxier: Proxier;
/** The rules that the proxier has registered to be watched. */
export let kept: KeptRules;
export let running: Promise<void> | undefined;

/** Makes everything anew before each test of a file, and ends it after. Each file calls it once. */
export function freshForEachTest(): void {
  beforeEach(() => {
    clock = new FakeClock();
    log = new RecordingLogger();
    informers = new ScriptedInformers();
    kernel = new ModelKernel();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    running = undefined;
    assert.equal(clock.pending, 0, 'no timer is left behind');
  });
}

/** Starts the proxier; its first round is over when this resolves. */
export async function start(nodeInformers = informers): Promise<void> {
  const { exec } = kernel;
  proxier = createProxier({
    informers,
    nodeInformers,
    exec,
    events: { event: () => undefined },
    rules: {
      keep(rules) {
        kept = rules;
      },
    },
    nodeName: 'n',
    nodeIP: '192.0.2.1',
    serviceCIDR: '10.96.0.0/16',
    clusterCIDR: '10.244.0.0/16',
    clock,
    log,
  });
  running = proxier.run(stop.signal);
  await clock.settle();
}

/** Stores objects; the round that they cause is over when this resolves. */
export function put(...objects: readonly (Service | EndpointSlice)[]): Promise<void> {
  for (const object of objects) {
    if (object.kind === 'Service') informers.put(serviceResource, object as Service);
    else informers.put(endpointSliceResource, object as EndpointSlice);
  }
  return clock.settle();
}

export const service = (name: string, clusterIP: string, protocol: 'TCP' | 'UDP' = 'TCP'): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta(name),
  spec: {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    clusterIP,
    ports: [{ protocol, port: 80, targetPort: 8080 }],
  },
});

export const slice = (
  name: string,
  of: string | undefined,
  ips: readonly string[],
  protocol = 'TCP',
): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: meta(name, { labels: of === undefined ? {} : { 'kubernetes.io/service-name': of } }),
  addressType: 'IPv4',
  ports: [{ name: '', protocol, port: 8080 }] as EndpointSlice['ports'],
  endpoints: ips.map((ip) => ({ addresses: [ip], conditions: {}, nodeName: 'n' })),
});

/**
 * Returns the backends of each service by its address: the elements in the kernel, and the chain that draws
 * the slot.
 */
export const leads = () => {
  const { services = {}, endpoints = {} } = kernel.elements;
  return Object.fromEntries(
    Object.entries(services).map(([key, verdict]) => [
      key.split(' . ')[0],
      [
        verdict.replace('goto ', ''),
        ...Object.entries(endpoints).flatMap(([slot, to]) =>
          slot.startsWith(key) ? [to.split(' . ')[0]] : [],
        ),
      ],
    ]),
  );
};
export const errors = () => log.of('error').map(({ fields }) => fields.inMs);
