import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { type Pod, podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import {
  type NetworkPolicy,
  networkPolicyResource,
} from '../../../../src/api/networking/v1/network-policy.ts';
import { objectKey } from '../../../../src/apimachinery/meta.ts';
import { PolicyEnforcer } from '../../../../src/network/policies/enforcer.ts';
import type { KeptRules } from '../../../../src/os/rule-watch.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../../fixtures/scripted-informers.ts';
import { meta } from '../../controllers/objects.ts';

let clock: FakeClock;
let informers: ScriptedInformers;
let stop: AbortController;
let running: Promise<unknown> | undefined;
let directory: string;
/** Texts that nft accepted. */
let written: string[];
/** Reason why nft fails; undefined while it does not. */
let broken: string | undefined;
let events: string[];
let kept: KeptRules;

beforeEach(async () => {
  [clock, informers, stop] = [new FakeClock(), new ScriptedInformers(), new AbortController()];
  [written, broken, events] = [[], undefined, []];
  directory = await mkdtemp(join(tmpdir(), 'minik8s-policies-'));
});
afterEach(async () => {
  stop.abort();
  await running;
  running = undefined;
  await rm(directory, { recursive: true });
});

function make(): PolicyEnforcer {
  return new PolicyEnforcer({
    informers,
    peerInformers: informers,
    ownPods: informers.informerFor(podResource),
    exec: async (_file, _args, { input = '' } = {}) => {
      if (broken) throw new Error(broken);
      written.push(String(input));
      return { stdout: '', stderr: '' };
    },
    rules: {
      keep(rules) {
        kept = rules;
      },
    },
    events: { event: (_about, _type, reason) => events.push(reason) },
    ...{ clock, log: new RecordingLogger(), nodeName: 'n', path: join(directory, 'policies.json') },
  });
}

async function start(enforcer: PolicyEnforcer): Promise<PolicyEnforcer> {
  await enforcer.load();
  running = Promise.all([enforcer.run(stop.signal), enforcer.read(stop.signal)]);
  await clock.settle();
  return enforcer;
}

const policy = (name: string): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: meta(name, { generation: 1 }),
  spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'] },
});
const pod = (name: string, app: string): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(name, { labels: { app } }),
    spec: { nodeName: 'n', containers: [] },
  }) as unknown as Pod;

/** Returns the state of a protection: `protected`, `waiting`, or the message of its error. */
async function stateOf(promise: Promise<void>): Promise<string> {
  const state = promise.then(
    () => 'protected',
    (error: Error) => error.message,
  );
  await clock.settle();
  return Promise.race([state, Promise.resolve('waiting')]);
}

const isolates = (ip: string) => written.some((text) => text.includes(`${ip} : goto ingress-`));

test('a pod that a policy selects is protected once the kernel has its rules', async () => {
  informers.put(networkPolicyResource, policy('deny'));
  const enforcer = await start(make());
  const protection = enforcer.protect(pod('web-1', 'web'), '10.244.0.5');
  assert.equal(isolates('10.244.0.5'), false);
  assert.equal(await stateOf(protection), 'protected');
  assert.equal(isolates('10.244.0.5'), true);
});

test('a pod that no policy selects starts without waiting for nft', async () => {
  informers.put(networkPolicyResource, policy('deny'));
  const enforcer = await start(make());
  broken = 'nft: not found';
  assert.equal(await stateOf(enforcer.protect(pod('db-1', 'db'), '10.244.0.6')), 'protected');
});

test('a pod is rejected with the reason while nft rejects its rules', async () => {
  informers.put(networkPolicyResource, policy('deny'));
  const enforcer = await start(make());
  broken = 'nft: exit status 1: Operation not supported';
  const protection = enforcer.protect(pod('web-1', 'web'), '10.244.0.5');
  protection.catch(() => undefined);
  assert.equal(await stateOf(protection), 'waiting');
  await clock.advance(10_000);
  assert.match(await stateOf(protection), /not in force: nft: exit status 1: Operation not supported/);
  assert.deepEqual(events, ['NetworkPoliciesNotApplied']);
});

test('rules stay until the address of a deleted pod is released', async () => {
  informers.put(networkPolicyResource, policy('deny'));
  const enforcer = await start(make());
  const web = pod('web-1', 'web');
  informers.put(podResource, web);
  await enforcer.protect(web, '10.244.0.5');
  const before = written.length;
  informers.remove(podResource, objectKey(web));
  await clock.settle();
  assert.equal(written.length, before, 'the deletion changes nothing');
  enforcer.release('10.244.0.5');
  await clock.settle();
  assert.match(written.at(-1) ?? '', /delete table ip minik8s-policies\n$/);
});

test('the whole table is written again after another program has deleted rules', async () => {
  informers.put(networkPolicyResource, policy('deny'));
  const enforcer = await start(make());
  await enforcer.protect(pod('web-1', 'web'), '10.244.0.5');
  written = [];
  assert.equal(kept.owns('ip filter FORWARD'), false);
  assert.equal(kept.owns('ip6 minik8s-policies ingress'), false, 'a family without pods has no table');
  assert.equal(kept.owns('ip minik8s-policies ingress'), true);
  kept.restore();
  await clock.settle();
  assert.equal(isolates('10.244.0.5'), true);
  assert.match(written[0] ?? '', /^add table ip minik8s-policies\ndelete table/);
});

test('a start without an API server protects pods by the policies of the last run', async () => {
  informers.put(networkPolicyResource, policy('deny'));
  informers.put(namespaceResource, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { ...meta('default'), namespace: undefined },
  } as never);
  const first = await start(make());
  await first.protect(pod('web-1', 'web'), '10.244.0.5');
  stop.abort();
  await running;
  [stop, informers, written] = [new AbortController(), new ScriptedInformers('unread'), []];
  const second = make();
  await second.load();
  running = second.run(stop.signal);
  await clock.settle();
  assert.equal(isolates('10.244.0.5'), true, 'the pod that runs');
  assert.equal(await stateOf(second.protect(pod('web-2', 'web'), '10.244.0.7')), 'protected');
  assert.equal(isolates('10.244.0.7'), true, 'a new pod');
});

test('a pod waits on a node that has never read the policies', async () => {
  informers = new ScriptedInformers('unread');
  const enforcer = make();
  await enforcer.load();
  running = enforcer.run(stop.signal);
  const protection = enforcer.protect(pod('web-1', 'web'), '10.244.0.5');
  protection.catch(() => undefined);
  assert.equal(await stateOf(protection), 'waiting');
  await clock.advance(10_000);
  assert.match(await stateOf(protection), /have not been read from the API server yet/);
});
